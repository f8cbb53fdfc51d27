package hostfuncs_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func putArtifact(t *testing.T, c hostfuncs.Call, body, name string) (toolabi.ArtifactPutReply, error) {
	t.Helper()
	return use[toolabi.ArtifactPutRequest, toolabi.ArtifactPutReply](t.Context(), hostfuncs.Config{}, toolabi.FuncArtifactPut, c, toolabi.ArtifactPutRequest{Body: []byte(body), Name: name})
}

func getArtifact(t *testing.T, c hostfuncs.Call, req toolabi.ArtifactGetRequest) (toolabi.ArtifactGetReply, error) {
	t.Helper()
	return use[toolabi.ArtifactGetRequest, toolabi.ArtifactGetReply](t.Context(), hostfuncs.Config{}, toolabi.FuncArtifactGet, c, req)
}

func statArtifact(t *testing.T, c hostfuncs.Call, artifact string) (toolabi.ArtifactStatReply, error) {
	t.Helper()
	return use[toolabi.ArtifactStatRequest, toolabi.ArtifactStatReply](t.Context(), hostfuncs.Config{}, toolabi.FuncArtifactStat, c, toolabi.ArtifactStatRequest{Artifact: artifact})
}

func digestOf(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

func TestArtifactsAreKeptAndReadInParts(t *testing.T) {
	k := newKeeper()
	c := k.call(1 << 30)
	body := "\x00\xffbytes \x1b[31m" + strings.Repeat("x", 100)
	for _, b := range []string{"", body} {
		put, err := putArtifact(t, c, b, "report.pdf")
		if err != nil || put.Artifact != digestOf(b) || put.Size != uint64(len(b)) {
			t.Fatalf("put %d bytes = %+v, %v", len(b), put, err)
		}
		if st, err := statArtifact(t, c, put.Artifact); err != nil || !st.Found || st.Size != uint64(len(b)) {
			t.Errorf("stat = %+v, %v", st, err)
		}
	}
	n := uint64(len(body))
	for _, tt := range []struct {
		offset, length uint64
		want           string
	}{
		{0, 0, body}, {0, n, body}, {0, n + 5, body}, {3, 4, body[3:7]}, {n - 1, 10, body[n-1:]}, {n, 0, ""}, {n, 3, ""}, {5, 0, body[5:]},
	} {
		got, err := getArtifact(t, c, toolabi.ArtifactGetRequest{Artifact: digestOf(body), Offset: tt.offset, Length: tt.length})
		if err != nil || string(got.Body) != tt.want || got.Size != n {
			t.Errorf("get %d at %d = %q of %d, %v, want %q", tt.length, tt.offset, got.Body, got.Size, err, tt.want)
		}
	}
	for _, offset := range []uint64{n + 1, math.MaxUint64} {
		_, err := getArtifact(t, c, toolabi.ArtifactGetRequest{Artifact: digestOf(body), Offset: offset})
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
	_, err := getArtifact(t, c, toolabi.ArtifactGetRequest{Artifact: digestOf(body), Length: toolabi.MaxArtifactPart + 1})
	wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
}

// A digest has one spelling, and what the run does not have is not found, whoever has it.
func TestADigestHasOneSpelling(t *testing.T) {
	k := newKeeper()
	c := k.call(1 << 30)
	have, other := digestOf("have"), digestOf("other")
	if _, err := putArtifact(t, c, "have", ""); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		code toolabi.Code
	}{
		{other, toolabi.NotFound}, {strings.ToUpper(have), toolabi.Invalid}, {have[:12], toolabi.Invalid}, {"", toolabi.Invalid},
		{have + "00", toolabi.Invalid}, {have[:63] + "g", toolabi.Invalid}, {" " + have[1:], toolabi.Invalid}, {"../" + have, toolabi.Invalid},
		{"sha256:" + have, toolabi.Invalid},
	} {
		_, err := getArtifact(t, c, toolabi.ArtifactGetRequest{Artifact: tt.text})
		wantError(t, err, tt.code, toolabi.EffectNone)
		st, err := statArtifact(t, c, tt.text)
		if tt.code == toolabi.NotFound {
			if err != nil || st.Found || st.Size != 0 {
				t.Errorf("stat %q = %+v, %v", tt.text, st, err)
			}
			continue
		}
		wantError(t, err, tt.code, toolabi.EffectNone)
	}
}

func TestArtifactsKeepToTheirQuota(t *testing.T) {
	for _, tt := range []struct {
		name    string
		granted uint64
		body    string
		pending uint64
		code    toolabi.Code
		puts    int
	}{
		{"nothing granted", 0, "x", 0, toolabi.Denied, 0},
		{"the last byte", 10, "12345", 0, 0, 1},
		{"one byte more", 9, "12345", 0, toolabi.TooLarge, 0},
		{"the same again", 5, "first", 0, 0, 1},
		{"an empty one", 5, "", 0, 0, 1},
		{"more than any", math.MaxUint64, "x", math.MaxUint64 - 5, toolabi.TooLarge, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKeeper()
			if _, err := putArtifact(t, k.call(100), "first", ""); err != nil {
				t.Fatal(err)
			}
			k.puts, k.pending = 0, tt.pending
			_, err := putArtifact(t, k.call(tt.granted), tt.body, "")
			if tt.code == 0 && err != nil {
				t.Error(err)
			} else if tt.code != 0 {
				wantError(t, err, tt.code, toolabi.EffectNone)
			}
			if k.puts != tt.puts {
				t.Errorf("stored %d times, want %d", k.puts, tt.puts)
			}
		})
	}
	c := newKeeper().call(1 << 40)
	_, err := putArtifact(t, c, strings.Repeat("x", toolabi.MaxArtifactPart+1), "")
	wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
	if _, err := putArtifact(t, c, strings.Repeat("x", toolabi.MaxArtifactPart), ""); err != nil {
		t.Error(err)
	}
}

func TestARunMakesSoManyArtifactsAndNoMore(t *testing.T) {
	k := newKeeper()
	for i := range toolabi.MaxArtifacts {
		b := fmt.Appendf(nil, "%d", i)
		k.blobs[toolabi.Digest(sha256.Sum256(b))] = b
	}
	_, err := putArtifact(t, k.call(1<<30), "one more", "")
	wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
	if _, err := putArtifact(t, k.call(1<<30), "7", ""); err != nil {
		t.Errorf("one that is there: %v", err)
	}
}

func TestANameIsALineForPeople(t *testing.T) {
	c := newKeeper().call(100)
	for _, name := range []string{"report.pdf", "../../etc/passwd", "Bericht für März.txt", strings.Repeat("n", toolabi.MaxArtifactName)} {
		if _, err := putArtifact(t, c, "x", name); err != nil {
			t.Errorf("name %.20q: %v", name, err)
		}
	}
	for _, name := range []string{"a\nb", "a\x1b[31m", "a\u202eb", "\x00", strings.Repeat("n", toolabi.MaxArtifactName+1)} {
		_, err := putArtifact(t, c, "x", name)
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
	f := function(t, toolabi.FuncArtifactPut)
	if got := f.Describe(encode(t, toolabi.ArtifactPutRequest{Body: []byte("canary"), Name: "a\nb"})); got != "a b" {
		t.Errorf("described as %q", got)
	}
	if !f.Bulky {
		t.Error("bodies of artifacts are kept twice")
	}
	shown, err := f.ShowReply(encode(t, toolabi.ArtifactPutReply{Artifact: digestOf("x"), Size: 1}))
	if want := `{"artifact":"` + digestOf("x") + `","size":1}`; err != nil || strings.TrimSpace(string(shown)) != want {
		t.Errorf("shown as %s, %v", shown, err)
	}
	if _, err := f.ShowReply([]byte{0xff}); err == nil {
		t.Error("garbage is shown")
	}
}

// Damage is known at the end of an artifact, so a part is only given when the end was seen.
func TestAPartIsGivenOnlyWhenTheWholeIsSound(t *testing.T) {
	k := newKeeper()
	c := k.call(1 << 20)
	body := strings.Repeat("x", 100_000)
	if _, err := putArtifact(t, c, body, ""); err != nil {
		t.Fatal(err)
	}
	k.bad, k.reads = errLost, 0
	if got, err := getArtifact(t, c, toolabi.ArtifactGetRequest{Artifact: digestOf(body), Length: 1}); !errors.Is(err, errLost) {
		t.Errorf("got %d bytes, %v", len(got.Body), err)
	}
	if k.reads != int64(len(body)) {
		t.Errorf("read %d bytes", k.reads)
	}
}

func TestAHostWithoutArtifactsSaysSo(t *testing.T) {
	c := hostfuncs.Call{Grants: hostfuncs.Grants{Artifacts: 1}}
	_, err := putArtifact(t, c, "x", "")
	wantError(t, err, toolabi.Unsupported, toolabi.EffectNone)
	_, err = statArtifact(t, c, digestOf("x"))
	wantError(t, err, toolabi.Unsupported, toolabi.EffectNone)
	_, err = statArtifact(t, hostfuncs.Call{}, digestOf("x"))
	if e := wantError(t, err, toolabi.Denied, toolabi.EffectNone); !strings.Contains(e.Message, "(--allow-artifacts, or no more than --allow-artifacts=64MiB)") {
		t.Errorf("says %q", e.Message)
	}
}

func FuzzStoresAndArtifacts(f *testing.F) {
	for _, req := range []any{
		toolabi.KVPutRequest{Store: "mine", Key: "k", Value: []byte("v")}, toolabi.KVCASRequest{Key: "k", Expect: 1},
		toolabi.KVListRequest{Prefix: "k", After: "a", Limit: 3, Values: true}, toolabi.ArtifactPutRequest{Body: []byte("b"), Name: "n"},
		toolabi.ArtifactGetRequest{Artifact: digestOf("b"), Offset: 1, Length: 2}, toolabi.ArtifactStatRequest{Artifact: digestOf("b")},
	} {
		f.Add(encode(f, req))
	}
	funcs := hostfuncs.Standard(hostfuncs.Config{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, k := newState(t), newKeeper()
		s.keys[[2]string{"kv:mine", "k"}] = stateValue{[]byte("v"), 1, true}
		near(s, 1, 2)
		c := s.call(mine)
		c.Grants.Artifacts, c.Artifacts = 10, k
		k.blobs[toolabi.Digest(sha256.Sum256([]byte("b")))] = []byte("b")
		for _, fn := range funcs {
			if !strings.HasPrefix(fn.Name, "kv_") && !strings.HasPrefix(fn.Name, "artifact_") {
				continue
			}
			refused := fn.Check(c, raw)
			reply, err := fn.Call(t.Context(), c, bytes.Clone(raw))
			if refused != nil && err == nil {
				t.Errorf("%s refuses and answers %x", fn.Name, reply)
			}
			if err != nil && hostfuncs.AsError(err).Code == toolabi.Internal {
				t.Errorf("%s: %v", fn.Name, err)
			}
			fn.Describe(raw)
			s.commit()
			s.usage("mine")
		}
	})
}
