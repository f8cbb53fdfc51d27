package sdktest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// storing is what the tool "stores" asks, in order, and what it is answered.
var storing struct {
	requests []any
	answers  []string
}

var storeFuncs = []string{
	toolabi.FuncKVGet, toolabi.FuncKVPut, toolabi.FuncKVCAS, toolabi.FuncKVDelete, toolabi.FuncKVList,
	toolabi.FuncArtifactPut, toolabi.FuncArtifactGet, toolabi.FuncArtifactStat,
}

func runStores(context.Context, done) (done, error) {
	for _, req := range storing.requests {
		storing.answers = append(storing.answers, askSDK(req))
	}
	return done{}, nil
}

// askSDK asks as a tool does.
func askSDK(req any) string {
	switch req := req.(type) {
	case toolabi.KVGetRequest:
		return answered(sdk.KVGet(req))
	case toolabi.KVPutRequest:
		return answered(sdk.KVPut(req))
	case toolabi.KVCASRequest:
		return answered(sdk.KVCAS(req))
	case toolabi.KVDeleteRequest:
		return answered(sdk.KVDelete(req))
	case toolabi.KVListRequest:
		return answered(sdk.KVList(req))
	case toolabi.ArtifactPutRequest:
		return answered(sdk.ArtifactPut(req))
	case toolabi.ArtifactGetRequest:
		return answered(sdk.ArtifactGet(req))
	case toolabi.ArtifactStatRequest:
		return answered(sdk.ArtifactStat(req))
	case toolabi.WorkspaceWriteRequest:
		return answered(sdk.WorkspaceWrite(req))
	}
	return fmt.Sprintf("no function takes a %T", req)
}

// answered is an answer as two hosts can be compared by it: the reply, or the error without its words.
func answered[Reply any](reply Reply, err error) string {
	var e *toolabi.Error
	switch {
	case errors.As(err, &e):
		return fmt.Sprintf("%s, %s, effect %s", e.Code, e.Detail, e.Effect)
	case err != nil:
		return err.Error()
	}
	return fmt.Sprintf("%.2000x %d", must(toolabi.Encode(reply)), len(must(toolabi.Encode(reply))))
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// realHost answers with the host's own functions, on a journal in memory.
type realHost struct {
	t     *testing.T
	mem   *journaltest.Mem
	funcs map[string]hostfuncs.Func
	kept  map[toolabi.Digest]int64
	at    uint64
	grant hostfuncs.Grants
}

func newRealHost(t *testing.T, grant hostfuncs.Grants) *realHost {
	h := &realHost{t: t, mem: journaltest.NewMem(), funcs: map[string]hostfuncs.Func{}, kept: map[toolabi.Digest]int64{}, grant: grant}
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		h.funcs[f.Name] = f
	}
	h.append(journal.Entry{Kind: journal.Created, Name: "test"})
	return h
}

func (h *realHost) append(e journal.Entry) {
	h.t.Helper()
	if err := h.mem.Append(h.t.Context(), "r", h.at, e); err != nil {
		h.t.Fatal(err)
	}
	h.at++
}

func (h *realHost) ask(name string, req any) string {
	h.t.Helper()
	f := h.funcs[name]
	var writes []journal.Write
	c := hostfuncs.Call{Module: "sdktest-test", Grants: h.grant, Artifacts: h}
	for _, capability := range sdktest.Manifest(h.t).Capabilities {
		if capability.Name == name {
			c.Targets = capability.Targets
		}
	}
	c.Get = func(space, key string) ([]byte, uint64, bool, error) {
		v, version, err := h.mem.Get(h.t.Context(), space, key)
		if errors.Is(err, journal.ErrNotFound) {
			return nil, version, false, nil
		}
		return v, version, true, err
	}
	c.Stage = func(space, key string, value []byte, remove bool, expect uint64) {
		writes = append(writes, journal.Write{Space: space, Key: key, Value: value, Delete: remove, Expect: expect})
	}
	c.Scan = func(space, prefix, after string, limit int) (items []hostfuncs.Item, more bool, err error) {
		for item, err := range h.mem.Scan(h.t.Context(), space, prefix, after) {
			if err != nil || len(items) == limit {
				return items, true, err
			}
			items = append(items, hostfuncs.Item{Key: item.Key, Value: item.Value, Version: item.Version})
		}
		return items, false, nil
	}
	reply, err := f.Call(h.t.Context(), c, must(toolabi.Encode(req)))
	if err != nil {
		return answered[any](nil, err)
	}
	if len(writes) > 0 {
		h.append(journal.Entry{Kind: journal.Record, Name: "write", Writes: writes})
	}
	return fmt.Sprintf("%.2000x %d", reply, len(reply))
}

func (h *realHost) Put(ctx context.Context, r io.Reader) (toolabi.Digest, int64, error) {
	d, n, err := h.mem.Put(ctx, r)
	h.kept[toolabi.Digest(d)] = n
	return toolabi.Digest(d), n, err
}

func (h *realHost) Open(ctx context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	n, ok := h.kept[d]
	if !ok {
		return nil, 0, toolabi.NewError(toolabi.NotFound, "none")
	}
	r, err := h.mem.Open(ctx, journal.Digest(d))
	return r, n, err
}

func (h *realHost) Usage(context.Context) (count int, size uint64, err error) {
	for _, n := range h.kept {
		size += uint64(n)
	}
	return len(h.kept), size, nil
}

// A tool's test finds what a tool finds: the same requests have the same answers in a World and with the host's own functions.
func TestAWorldAnswersAsTheHostDoes(t *testing.T) {
	big := bytes.Repeat([]byte("v"), toolabi.MaxKVValue)
	have := toolabi.DigestOf([]byte("have")).String()
	storing.requests = []any{
		toolabi.KVGetRequest{Key: "k"}, toolabi.KVPutRequest{Key: "k", Value: []byte("one")}, toolabi.KVGetRequest{Key: "k"},
		toolabi.KVCASRequest{Key: "k", Value: []byte("two"), Expect: 1}, toolabi.KVCASRequest{Key: "k", Expect: 1}, toolabi.KVCASRequest{Key: "k"},
		toolabi.KVGetRequest{Key: "k"}, toolabi.KVDeleteRequest{Key: "k"}, toolabi.KVDeleteRequest{Key: "k"}, toolabi.KVGetRequest{Key: "k"},
		toolabi.KVCASRequest{Key: "k", Expect: 3}, toolabi.KVCASRequest{Key: "k", Value: []byte("four")}, toolabi.KVGetRequest{Key: "k"},
		toolabi.KVPutRequest{Key: "k"}, toolabi.KVGetRequest{Key: "k"}, toolabi.KVGetRequest{Store: "sdktest-test", Key: "k"},
		toolabi.KVGetRequest{Store: "shared", Key: "k"}, toolabi.KVPutRequest{Store: "shared", Key: "../x", Value: []byte{0xff, 0}},
		toolabi.KVGetRequest{Store: "denied", Key: "k"}, toolabi.KVPutRequest{Store: "denied", Key: "k"}, toolabi.KVListRequest{Store: "denied"},
		toolabi.KVGetRequest{Store: "No Name", Key: "k"}, toolabi.KVGetRequest{Key: ""}, toolabi.KVPutRequest{Key: strings.Repeat("k", 513)},
		toolabi.KVDeleteRequest{Key: ""}, toolabi.KVCASRequest{Key: "", Expect: 1}, toolabi.KVPutRequest{Key: "big", Value: big},
		toolabi.KVPutRequest{Key: "big", Value: append(big, 'v')}, toolabi.KVCASRequest{Key: "big", Value: append(big, 'v'), Expect: 9},
		toolabi.KVListRequest{}, toolabi.KVListRequest{Values: true}, toolabi.KVListRequest{Limit: 1}, toolabi.KVListRequest{Limit: 2},
		toolabi.KVListRequest{Limit: 1001}, toolabi.KVListRequest{Prefix: "b"}, toolabi.KVListRequest{Prefix: "k", After: "k"}, toolabi.KVListRequest{After: "big"},
		toolabi.KVListRequest{Prefix: strings.Repeat("k", 513)}, toolabi.KVListRequest{Store: "shared", Values: true},
		toolabi.ArtifactStatRequest{Artifact: have}, toolabi.ArtifactGetRequest{Artifact: have}, toolabi.ArtifactPutRequest{Body: []byte("have"), Name: "x.txt"},
		toolabi.ArtifactStatRequest{Artifact: have}, toolabi.ArtifactGetRequest{Artifact: have}, toolabi.ArtifactGetRequest{Artifact: have, Offset: 1, Length: 2},
		toolabi.ArtifactGetRequest{Artifact: have, Offset: 4}, toolabi.ArtifactGetRequest{Artifact: have, Offset: 5}, toolabi.ArtifactGetRequest{Artifact: have, Length: 1 << 40},
		toolabi.ArtifactGetRequest{Artifact: strings.ToUpper(have)}, toolabi.ArtifactStatRequest{Artifact: have[:10]}, toolabi.ArtifactPutRequest{Body: []byte("have")},
		toolabi.ArtifactPutRequest{Body: []byte("seven b")}, toolabi.ArtifactPutRequest{Body: []byte("six by")}, toolabi.ArtifactPutRequest{},
		toolabi.ArtifactPutRequest{Name: "two\nlines"}, toolabi.ArtifactPutRequest{Name: strings.Repeat("n", 256)}, toolabi.ArtifactPutRequest{Body: make([]byte, toolabi.MaxArtifactPart+1)},
	}
	for i := range 150 {
		storing.requests = append(storing.requests, toolabi.KVPutRequest{Store: "shared", Key: fmt.Sprint("key", i), Value: big[:10_000+i]})
	}
	storing.requests = append(storing.requests, toolabi.KVListRequest{Store: "shared"}, toolabi.KVListRequest{Store: "shared", Limit: 1000, Values: true},
		toolabi.KVListRequest{Store: "shared", Limit: 1000}, toolabi.KVListRequest{Store: "shared", Limit: 151}, toolabi.KVListRequest{Store: "shared", Limit: 150, Values: true, After: "key5"})
	storing.answers = nil
	w := &sdktest.World{
		KV: map[string]map[string][]byte{"sdktest-test": {}, "shared": {}}, Artifacts: map[string][]byte{}, ArtifactQuota: 10,
	}
	if _, err := sdktest.Call(t, w, "stores", `{}`); err != nil {
		t.Fatal(err)
	}
	host := newRealHost(t, hostfuncs.Grants{
		KV: []hostfuncs.KVGrant{{Store: "sdktest-test", Write: true}, {Store: "shared", Write: true}}, Artifacts: 10,
	})
	names := map[string]string{}
	for _, name := range storeFuncs {
		names[strings.ReplaceAll(name, "_", "")+"request"] = name
	}
	for i, req := range storing.requests {
		name := names[strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", req), "toolabi."))]
		if want := host.ask(name, req); storing.answers[i] != want {
			t.Errorf("request %d, %s %.100v: the world says %.200s, the host %.200s", i, name, req, storing.answers[i], want)
		}
	}
	if len(w.Kept) != 4 || len(w.Removed) != 1 || len(w.Puts) != 156 || w.Puts[0].Store != "sdktest-test" || string(w.KV["shared"]["../x"]) != "\xff\x00" {
		t.Errorf("the world saw %d artifacts, %d removals and %d writes", len(w.Kept), len(w.Removed), len(w.Puts))
	}
	if keys := slices.Sorted(maps.Keys(w.KV["sdktest-test"])); !slices.Equal(keys, []string{"big", "k"}) {
		t.Errorf("the store has %q", keys)
	}
}

// What a test changes between two calls has another version, as what another run writes.
func TestATestWritesLikeAnotherRun(t *testing.T) {
	w := &sdktest.World{KV: map[string]map[string][]byte{"sdktest-test": {"k": []byte("the test's")}}}
	ask := func(req any) string {
		t.Helper()
		storing.requests, storing.answers = []any{req}, nil
		if _, err := sdktest.Call(t, w, "stores", `{}`); err != nil {
			t.Fatal(err)
		}
		return storing.answers[0]
	}
	ok := func(version uint64) string { return answered(toolabi.KVPutReply{Version: version}, nil) }
	conflict := answered[any](nil, toolabi.NewError(toolabi.Conflict, ""))
	if got := ask(toolabi.KVCASRequest{Key: "k", Value: []byte("the tool's"), Expect: 1}); got != ok(2) {
		t.Errorf("the first write: %s", got)
	}
	w.KV["sdktest-test"]["k"] = []byte("the test's again")
	if got := ask(toolabi.KVCASRequest{Key: "k", Expect: 2}); got != conflict {
		t.Errorf("a version that is gone: %s", got)
	}
	if got := ask(toolabi.KVCASRequest{Key: "k", Expect: 3}); got != ok(4) {
		t.Errorf("the version of the test: %s", got)
	}
}

// The versions of a run's files are artifacts of it, and what was put can be written as a file.
func TestFilesAndArtifactsAreOfOneRun(t *testing.T) {
	w := &sdktest.World{Files: map[string][]byte{}, Artifacts: map[string][]byte{}, ArtifactQuota: 10}
	put := toolabi.DigestOf([]byte("put")).String()
	storing.answers, storing.requests = nil, []any{
		toolabi.WorkspaceWriteRequest{Path: "a", Body: []byte("file")}, toolabi.ArtifactGetRequest{Artifact: toolabi.DigestOf([]byte("file")).String()},
		toolabi.ArtifactPutRequest{Body: []byte("put")}, toolabi.WorkspaceWriteRequest{Path: "b", Artifact: put}, toolabi.ArtifactPutRequest{Body: []byte("four")},
	}
	if _, err := sdktest.Call(t, w, "stores", `{}`); err != nil {
		t.Fatal(err)
	}
	if want := answered(toolabi.ArtifactGetReply{Body: []byte("file"), Size: 4}, nil); storing.answers[1] != want {
		t.Errorf("the version is %s", storing.answers[1])
	}
	if string(w.Files["b"]) != "put" || storing.answers[4] != answered[any](nil, toolabi.NewError(toolabi.TooLarge, "")) {
		t.Errorf("the file is %q, and over the quota it says %s", w.Files["b"], storing.answers[4])
	}
}
