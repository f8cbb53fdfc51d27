package sdktest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// fileAsk is one request to the workspace; the fields that its function does not have are not looked at.
type fileAsk struct {
	Do        string `json:"do"`
	Path      string `json:"path"`
	Body      string `json:"body"`
	Artifact  string `json:"artifact"`
	Expect    string `json:"expect"`
	After     string `json:"after"`
	Recursive bool   `json:"recursive"`
	Limit     uint32 `json:"limit"`
	Offset    uint64 `json:"offset"`
	Length    uint64 `json:"length"`
}

type fileTold struct {
	Told string `json:"told"`
}

func useFiles(_ context.Context, in fileAsk) (fileTold, error) {
	var reply any
	var err error
	switch in.Do {
	case toolabi.FuncWorkspaceRead:
		reply, err = sdk.WorkspaceRead(in.read())
	case toolabi.FuncWorkspaceWrite:
		reply, err = sdk.WorkspaceWrite(in.write())
	case toolabi.FuncWorkspaceList:
		reply, err = sdk.WorkspaceList(in.list())
	default:
		reply, err = toolabi.WorkspaceRemoveReply{Path: in.Path}, sdk.WorkspaceRemove(in.Path)
	}
	return fileTold{fmt.Sprintf("%+v", reply)}, err
}

func (in fileAsk) read() toolabi.WorkspaceReadRequest {
	return toolabi.WorkspaceReadRequest{Path: in.Path, Offset: in.Offset, Length: in.Length}
}

func (in fileAsk) write() toolabi.WorkspaceWriteRequest {
	return toolabi.WorkspaceWriteRequest{Path: in.Path, Body: []byte(in.Body), Artifact: in.Artifact, Expect: in.Expect}
}

func (in fileAsk) list() toolabi.WorkspaceListRequest {
	return toolabi.WorkspaceListRequest{Dir: in.Path, Recursive: in.Recursive, After: in.After, Limit: in.Limit}
}

// memory are the artifacts of a run on the host.
type memory map[toolabi.Digest][]byte

func (m memory) Put(_ context.Context, r io.Reader) (toolabi.Digest, int64, error) {
	b, err := io.ReadAll(r)
	d := toolabi.DigestOf(b)
	m[d] = b
	return d, int64(len(b)), err
}

func (m memory) Open(_ context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	if _, ok := m[d]; !ok {
		return nil, 0, toolabi.NewError(toolabi.NotFound, "the run has no such artifact")
	}
	return io.NopCloser(bytes.NewReader(m[d])), int64(len(m[d])), nil
}

func (m memory) Usage(context.Context) (int, uint64, error) { return len(m), 0, nil }

// host answers a request as a host does, from a directory.
func host(t *testing.T, c hostfuncs.Call, in fileAsk) (string, error) {
	t.Helper()
	var req, reply any
	switch in.Do {
	case toolabi.FuncWorkspaceRead:
		req, reply = in.read(), new(toolabi.WorkspaceReadReply)
	case toolabi.FuncWorkspaceWrite:
		req, reply = in.write(), new(toolabi.WorkspaceWriteReply)
	case toolabi.FuncWorkspaceList:
		req, reply = in.list(), new(toolabi.WorkspaceListReply)
	default:
		req, reply = toolabi.WorkspaceRemoveRequest{Path: in.Path}, new(toolabi.WorkspaceRemoveReply)
	}
	raw, err := toolabi.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		if f.Name != in.Do {
			continue
		}
		out, err := f.Call(t.Context(), c, raw)
		if err != nil {
			return "", err
		}
		if err := toolabi.Decode(out, reply); err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(fmt.Sprintf("%+v", reply), "&"), nil
	}
	t.Fatalf("there is no %s", in.Do)
	return "", nil
}

// One script after the other is answered by a World and by a host, and a tool cannot tell which it was.
func TestAWorldsFilesAreAsTheHosts(t *testing.T) {
	paths := []string{"a", "b", "a/b", "a/b/c", "a-b", "d/e", "d/e/f", "d", "../x", "nul", "", "d/", strings.Repeat("n", 256)}
	bodies := []string{"", "one", "two", "a longer text"}
	artifacts := []string{"", "", "", "none", strings.Repeat("a", 64)}
	expects := []string{"", "", "", toolabi.WorkspaceAbsent, "something", strings.Repeat("b", 64)}
	for _, b := range bodies {
		d := toolabi.DigestOf([]byte(b)).String()
		artifacts, expects = append(artifacts, d), append(expects, d)
	}
	dos := []string{toolabi.FuncWorkspaceRead, toolabi.FuncWorkspaceWrite, toolabi.FuncWorkspaceWrite, toolabi.FuncWorkspaceList, toolabi.FuncWorkspaceRemove}
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	codes := map[toolabi.Code]int{}
	for range 12 {
		w := &sdktest.World{Files: map[string][]byte{"a-b": []byte("laid"), "d/e": []byte("laid")}}
		dir := filepath.Join(t.TempDir(), "files")
		for p, b := range w.Files {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o700), os.WriteFile(filepath.Join(dir, p), b, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		c := hostfuncs.Call{Run: "r", Key: "k", Artifacts: memory{}, Grants: hostfuncs.Grants{Workspace: hostfuncs.WorkspaceGrant{Path: dir, Write: true}}}
		for i := range 60 {
			in := fileAsk{Do: pick(dos), Path: pick(paths), Body: pick(bodies), Expect: pick(expects)}
			if random.IntN(3) == 0 {
				in.Artifact = pick(artifacts)
			}
			switch in.Do {
			case toolabi.FuncWorkspaceList:
				in.Recursive, in.Limit, in.After = random.IntN(2) == 0, uint32(random.IntN(4)), pick(paths)
				if in.Limit == 3 {
					in.Limit = uint32(1000 + random.IntN(2))
				}
			case toolabi.FuncWorkspaceRead:
				in.Offset, in.Length = uint64(random.IntN(5)), uint64(random.IntN(4))
				if in.Length == 3 {
					in.Length = toolabi.MaxWorkspacePart + uint64(random.IntN(2))
				}
			}
			input, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			want, wantErr := host(t, c, in)
			out, err := sdktest.Call(t, w, "files", string(input))
			var got fileTold
			if err == nil {
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatal(err)
				}
			}
			wantCode, code := codeOf(wantErr), codeOf(err)
			codes[code]++
			if got.Told != want || code != wantCode {
				t.Fatalf("request %d, %+v:\na world says %s %v\na host says  %s %v", i, in, got.Told, err, want, wantErr)
			}
		}
		for p, b := range w.Files {
			if got, err := os.ReadFile(filepath.Join(dir, p)); err != nil || !bytes.Equal(got, b) {
				t.Errorf("%s holds %q in the world, and %q on the host, %v", p, b, got, err)
			}
		}
	}
	for _, code := range []toolabi.Code{0, toolabi.Denied, toolabi.NotFound, toolabi.Conflict, toolabi.Invalid, toolabi.TooLarge} {
		if codes[code] < 5 {
			t.Errorf("the scripts met %s %d times only: %v", code, codes[code], slices.Collect(maps.Keys(codes)))
		}
	}
}

func codeOf(err error) toolabi.Code {
	var e *toolabi.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestAWorldWithoutFilesFailsTheTest(t *testing.T) {
	r := &recorder{TB: t}
	_, err := sdktest.Call(r, new(sdktest.World), "files", `{"do":"workspace_read","path":"a","body":"","artifact":"","expect":"","after":"","recursive":false,"limit":0,"offset":0,"length":0}`)
	if !errors.Is(err, toolabi.Unsupported) || len(r.failures) != 1 {
		t.Errorf("it ends with %v, and the test is told %q", err, r.failures)
	}
}
