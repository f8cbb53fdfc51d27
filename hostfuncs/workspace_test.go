package hostfuncs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestWorkspaceFilesAreWrittenReadListedAndRemoved(t *testing.T) {
	f := newFiles(t)
	f.put("notes.txt", "one")
	f.put("out/deep/report.md", "two")
	f.put("notes.txt", "three")
	f.put("empty", "")
	wantTree(t, f.dir, map[string]string{"notes.txt": "three", "out": "dir", "out/deep": "dir", "out/deep/report.md": "two", "empty": ""})

	got, err := f.read(toolabi.WorkspaceReadRequest{Path: "notes.txt"})
	if err != nil || string(got.Body) != "three" || got.Size != 5 || got.Digest != toolabi.DigestOf([]byte("three")).String() {
		t.Errorf("read %+v, %v", got, err)
	}
	got, err = f.read(toolabi.WorkspaceReadRequest{Path: "empty"})
	if err != nil || got.Size != 0 || got.Digest != toolabi.DigestOf(nil).String() {
		t.Errorf("read of nothing %+v, %v", got, err)
	}
	for range 2 {
		if err := f.remove("out/deep/report.md"); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if err := f.remove("never/was"); err != nil {
		t.Errorf("remove what never was: %v", err)
	}
	if err := f.remove("notes.txt/below"); err != nil {
		t.Errorf("remove what cannot be: %v", err)
	}
	wantTree(t, f.dir, map[string]string{"notes.txt": "three", "out": "dir", "out/deep": "dir", "empty": ""})
	for _, path := range []string{"out/deep/report.md", "notes.txt/below", "no/such"} {
		_, err := f.read(toolabi.WorkspaceReadRequest{Path: path})
		wantError(t, err, toolabi.NotFound, toolabi.EffectNone)
	}
	if n, _, _ := f.kept.Usage(t.Context()); n != 4 {
		t.Errorf("%d artifacts are kept of four versions", n)
	}
}

func TestWorkspaceReadGivesAPart(t *testing.T) {
	f := newFiles(t)
	long := strings.Repeat("0123456789", 840_000)
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.at("long"), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		offset, length uint64
		want           string
	}{
		{0, 3, "012"}, {9, 2, "90"}, {8_399_998, 5, "89"}, {8_400_000, 5, ""}, {8_400_001, 5, ""}, {1 << 63, 0, ""}, {1<<64 - 1, 1, ""},
		{0, 0, long[:toolabi.MaxWorkspacePart]}, {8_000_000, 0, long[8_000_000:]}, {1, toolabi.MaxWorkspacePart, long[1:][:toolabi.MaxWorkspacePart]},
	} {
		got, err := f.read(toolabi.WorkspaceReadRequest{Path: "long", Offset: c.offset, Length: c.length})
		if err != nil || string(got.Body) != c.want || got.Size != 8_400_000 || got.Digest != "" {
			t.Errorf("%d bytes from %d on: %d bytes, size %d, digest %q, %v", c.length, c.offset, len(got.Body), got.Size, got.Digest, err)
		}
	}
	_, err := f.read(toolabi.WorkspaceReadRequest{Path: "long", Length: toolabi.MaxWorkspacePart + 1})
	wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
}

func TestWorkspaceWriteHoldsTheFileAgainstWhatIsExpected(t *testing.T) {
	digest := func(s string) string { return toolabi.DigestOf([]byte(s)).String() }
	for _, c := range []struct {
		name, is, expect, body string // is "" where there is no file
		ok                     bool
	}{
		{"it does not mind", "old", "", "new", true},
		{"it is as expected", "old", digest("old"), "new", true},
		{"it is another", "other", digest("old"), "new", false},
		{"it is not there", "", digest("old"), "new", false},
		{"nothing is there, as expected", "", toolabi.WorkspaceAbsent, "new", true},
		{"something is there", "old", toolabi.WorkspaceAbsent, "new", false},
		{"it was written already", "new", digest("old"), "new", true},
		{"it was made already", "new", toolabi.WorkspaceAbsent, "new", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFiles(t)
			if c.is != "" {
				f.put("f", c.is)
			}
			before, _, _ := f.kept.Usage(t.Context())
			_, err := f.write(toolabi.WorkspaceWriteRequest{Path: "f", Body: []byte(c.body), Expect: c.expect})
			if c.ok {
				if err != nil {
					t.Error(err)
				}
				wantTree(t, f.dir, map[string]string{"f": c.body})
				return
			}
			wantError(t, err, toolabi.Conflict, toolabi.EffectNone)
			want := map[string]string{}
			if c.is != "" {
				want["f"] = c.is
			}
			wantTree(t, f.dir, want)
			if after, _, _ := f.kept.Usage(t.Context()); after != before {
				t.Error("an artifact is kept of what was not written")
			}
		})
	}
}

func TestWorkspaceWriteTakesAnArtifactOfTheRun(t *testing.T) {
	f := newFiles(t)
	d, _, err := f.kept.Put(t.Context(), strings.NewReader(strings.Repeat("x", 9<<20)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.write(toolabi.WorkspaceWriteRequest{Path: "big", Artifact: d.String()})
	if err != nil || got.Artifact != d.String() || got.Size != 9<<20 {
		t.Fatalf("wrote %+v, %v", got, err)
	}
	if b, err := os.ReadFile(f.at("big")); err != nil || toolabi.DigestOf(b) != d {
		t.Errorf("the file has %d bytes, %v", len(b), err)
	}
	_, err = f.write(toolabi.WorkspaceWriteRequest{Path: "other", Artifact: strings.Repeat("a", 64)})
	wantError(t, err, toolabi.NotFound, toolabi.EffectNone)
	wantTree(t, f.dir, map[string]string{"big": strings.Repeat("x", 9<<20)})
}

// An artifact that ends in an error, or before its end, changes nothing.
func TestWorkspaceWriteOfADamagedArtifactChangesNothing(t *testing.T) {
	damaged := errors.New("the artifact is damaged")
	for name, r := range map[string]io.Reader{
		"an error": io.MultiReader(strings.NewReader("half"), errorReader{damaged}), "too short": strings.NewReader("half"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFiles(t)
			f.put("f", "old")
			f.call.Artifacts = opened{f.kept, r, 8}
			_, err := f.write(toolabi.WorkspaceWriteRequest{Path: "f", Artifact: strings.Repeat("a", 64)})
			if err == nil || name == "an error" && !errors.Is(err, damaged) {
				t.Errorf("it ends with %v", err)
			}
			wantTree(t, f.dir, map[string]string{"f": "old"})
		})
	}
}

// opened are artifacts that all have the same bytes.
type opened struct {
	hostfuncs.Artifacts
	r    io.Reader
	size int64
}

func (o opened) Open(context.Context, toolabi.Digest) (io.ReadCloser, int64, error) {
	return io.NopCloser(o.r), o.size, nil
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

func TestWorkspaceRequestsAreJudgedBeforeAnythingIsDone(t *testing.T) {
	none, readOnly := newFiles(t), newFiles(t)
	none.call.Grants.Workspace = hostfuncs.WorkspaceGrant{}
	readOnly.call.Grants.Workspace.Write = false
	writing := newFiles(t)
	for _, c := range []struct {
		files    *files
		function string
		request  any
		code     toolabi.Code
	}{
		{none, toolabi.FuncWorkspaceRead, toolabi.WorkspaceReadRequest{Path: "a"}, toolabi.Denied},
		{none, toolabi.FuncWorkspaceList, toolabi.WorkspaceListRequest{}, toolabi.Denied},
		{none, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: "a"}, toolabi.Denied},
		{none, toolabi.FuncWorkspaceRemove, toolabi.WorkspaceRemoveRequest{Path: "a"}, toolabi.Denied},
		{readOnly, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: "a"}, toolabi.Denied},
		{readOnly, toolabi.FuncWorkspaceRemove, toolabi.WorkspaceRemoveRequest{Path: "a"}, toolabi.Denied},
		{writing, toolabi.FuncWorkspaceRead, toolabi.WorkspaceReadRequest{Path: "../a"}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceList, toolabi.WorkspaceListRequest{Dir: "/"}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceList, toolabi.WorkspaceListRequest{Dir: "."}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceList, toolabi.WorkspaceListRequest{Limit: toolabi.MaxWorkspaceList + 1}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: "nul.txt"}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: "a", Body: []byte("b"), Artifact: strings.Repeat("a", 64)}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: "a", Artifact: strings.Repeat("A", 64)}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: "a", Expect: "Absent"}, toolabi.Invalid},
		{writing, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: "a", Body: make([]byte, toolabi.MaxWorkspacePart+1)}, toolabi.TooLarge},
		{writing, toolabi.FuncWorkspaceRemove, toolabi.WorkspaceRemoveRequest{Path: ""}, toolabi.Invalid},
	} {
		fn, raw := function(t, c.function), encode(t, c.request)
		wantError(t, fn.Check(c.files.call, raw), c.code, toolabi.EffectNone)
		_, err := fn.Call(t.Context(), c.files.call, raw)
		wantError(t, err, c.code, toolabi.EffectNone)
		if _, err := os.Lstat(c.files.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s made the directory: %v", c.function, err)
		}
	}
	if fn := function(t, toolabi.FuncWorkspaceRead); fn.Check(readOnly.call, encode(t, toolabi.WorkspaceReadRequest{Path: "a"})) != nil {
		t.Error("a workspace that may not be written to may not be read either")
	}
}

func TestVersionsCountAsArtifactsOfTheRun(t *testing.T) {
	f := newFiles(t)
	f.call.Grants.Artifacts = 10
	f.put("a", "12345")
	f.put("b", "67890")
	f.put("c", "12345") // is kept already
	_, err := f.write(toolabi.WorkspaceWriteRequest{Path: "d", Body: []byte("x")})
	wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
	wantTree(t, f.dir, map[string]string{"a": "12345", "b": "67890", "c": "12345"})

	f.kept.bytes = map[toolabi.Digest][]byte{}
	for i := range toolabi.MaxArtifacts {
		f.kept.bytes[toolabi.DigestOf(fmt.Append(nil, i))] = nil
	}
	_, err = f.write(toolabi.WorkspaceWriteRequest{Path: "d", Body: []byte("x")})
	wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)

	f = newFiles(t)
	f.kept.bytes = map[toolabi.Digest][]byte{{1}: make([]byte, 100)}
	f.put("without a grant of artifacts", "x")
}

// What cannot be kept is not written, and what may not be begun leaves nothing.
func TestWorkspaceWriteThatIsStoppedLeavesTheFile(t *testing.T) {
	stop := errors.New("stop")
	f := newFiles(t)
	f.put("d/f", "old")
	f.kept.fails = stop
	if _, err := f.write(toolabi.WorkspaceWriteRequest{Path: "d/f", Body: []byte("new")}); !errors.Is(err, stop) {
		t.Errorf("it ends with %v", err)
	}
	f.kept.fails = nil
	things := 3 // with the file that becomes it
	f.call.BeforeSend = func() error {
		if got := tree(t, f.dir); len(got) != things || got["d/f"] != "old" {
			t.Errorf("immediately before, the directory holds %q", got)
		}
		return stop
	}
	if _, err := f.write(toolabi.WorkspaceWriteRequest{Path: "d/f", Body: []byte("new")}); !errors.Is(err, stop) {
		t.Errorf("it ends with %v", err)
	}
	things = 2
	if err := f.remove("d/f"); !errors.Is(err, stop) {
		t.Errorf("removing ends with %v", err)
	}
	wantTree(t, f.dir, map[string]string{"d": "dir", "d/f": "old"})
}

func TestParallelWritersOfOneFileLeaveOneOfTheirs(t *testing.T) {
	f := newFiles(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			mine := *f
			mine.call.Key = fmt.Sprint("key ", i)
			for range 4 {
				body := bytes.Repeat([]byte{byte('a' + i)}, 10_000)
				if _, err := mine.write(toolabi.WorkspaceWriteRequest{Path: "d/f", Body: body}); err != nil {
					t.Error(err)
				}
				got, err := mine.read(toolabi.WorkspaceReadRequest{Path: "d/f"})
				if err != nil || len(got.Body) != 10_000 || bytes.Count(got.Body, got.Body[:1]) != 10_000 {
					t.Errorf("read %d bytes, %v", len(got.Body), err)
				}
			}
		})
	}
	wg.Wait()
	if got := tree(t, f.dir); len(got) != 2 {
		t.Errorf("the directory holds %d things", len(got))
	}
}

func TestChangesOfFilesAreShownToPeople(t *testing.T) {
	for _, c := range []struct{ function, request, reply string }{
		{toolabi.FuncWorkspaceWrite, "", `{"path":"a","artifact":"d","size":3}`},
		{toolabi.FuncWorkspaceRemove, `{"path":"a"}`, `{"path":"a"}`},
	} {
		fn := function(t, c.function)
		var request, reply any = toolabi.WorkspaceWriteRequest{Path: "a", Body: []byte("one")}, toolabi.WorkspaceWriteReply{Path: "a", Artifact: "d", Size: 3}
		if fn.ShowRequest != nil {
			request, reply = toolabi.WorkspaceRemoveRequest{Path: "a"}, toolabi.WorkspaceRemoveReply{Path: "a"}
			if got, err := fn.ShowRequest(encode(t, request)); err != nil || string(got) != c.request {
				t.Errorf("%s is shown as %s, %v", c.function, got, err)
			}
		}
		if got, err := fn.ShowReply(encode(t, reply)); err != nil || string(got) != c.reply {
			t.Errorf("the reply of %s is shown as %s, %v", c.function, got, err)
		}
		if got := fn.Describe(encode(t, request)); got != "a" {
			t.Errorf("%s is described as %q", c.function, got)
		}
		if _, err := fn.ShowReply([]byte("x")); err == nil {
			t.Errorf("%s shows what is no reply", c.function)
		}
	}
}

func TestARunHasNoMoreFilesThanArtifacts(t *testing.T) {
	f := newFiles(t)
	f.call.Files = func(_ context.Context, without string) (int, uint64, error) {
		if without == "one of them" {
			return toolabi.MaxArtifacts - 1, 0, nil
		}
		return toolabi.MaxArtifacts, 0, nil
	}
	_, err := f.write(toolabi.WorkspaceWriteRequest{Path: "one more"})
	wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
	if _, err := f.write(toolabi.WorkspaceWriteRequest{Path: "one of them"}); err != nil {
		t.Error(err)
	}
	wantTree(t, f.dir, map[string]string{"one of them": ""})
}
