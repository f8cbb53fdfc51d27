package hostfuncs_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// kept are the artifacts of a run, in memory.
type kept struct {
	mu    sync.Mutex // guards bytes
	bytes map[toolabi.Digest][]byte
	fails error // of everything that is put
}

func (k *kept) Put(_ context.Context, r io.Reader) (toolabi.Digest, int64, error) {
	b, err := io.ReadAll(r)
	if err == nil {
		err = k.fails
	}
	if err != nil {
		return toolabi.Digest{}, 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bytes == nil {
		k.bytes = map[toolabi.Digest][]byte{}
	}
	d := toolabi.DigestOf(b)
	k.bytes[d] = b
	return d, int64(len(b)), nil
}

func (k *kept) Open(_ context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.bytes[d]
	if !ok {
		return nil, 0, toolabi.NewError(toolabi.NotFound, "the run has no artifact "+d.Short())
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

func (k *kept) Usage(context.Context) (count int, size uint64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.bytes {
		size += uint64(len(b))
	}
	return len(k.bytes), size, nil
}

// files is a workspace of a test: a directory, and the run that it is granted to.
type files struct {
	t    testing.TB
	dir  string
	call hostfuncs.Call
	kept *kept
}

func newFiles(t testing.TB) *files {
	f := &files{t: t, dir: filepath.Join(t.TempDir(), "workspace"), kept: new(kept)}
	f.call = hostfuncs.Call{
		Run: "r", Step: "s/1", Module: "m", Tool: "t", Key: "key-1", Artifacts: f.kept,
		Grants: hostfuncs.Grants{Workspace: hostfuncs.WorkspaceGrant{Path: f.dir, Write: true}},
	}
	return f
}

func (f *files) write(req toolabi.WorkspaceWriteRequest) (toolabi.WorkspaceWriteReply, error) {
	return use[toolabi.WorkspaceWriteRequest, toolabi.WorkspaceWriteReply](f.t.Context(), hostfuncs.Config{}, toolabi.FuncWorkspaceWrite, f.call, req)
}

func (f *files) read(req toolabi.WorkspaceReadRequest) (toolabi.WorkspaceReadReply, error) {
	return use[toolabi.WorkspaceReadRequest, toolabi.WorkspaceReadReply](f.t.Context(), hostfuncs.Config{}, toolabi.FuncWorkspaceRead, f.call, req)
}

func (f *files) list(req toolabi.WorkspaceListRequest) (toolabi.WorkspaceListReply, error) {
	return use[toolabi.WorkspaceListRequest, toolabi.WorkspaceListReply](f.t.Context(), hostfuncs.Config{}, toolabi.FuncWorkspaceList, f.call, req)
}

func (f *files) remove(path string) error {
	_, err := use[toolabi.WorkspaceRemoveRequest, toolabi.WorkspaceRemoveReply](f.t.Context(), hostfuncs.Config{}, toolabi.FuncWorkspaceRemove, f.call, toolabi.WorkspaceRemoveRequest{Path: path})
	return err
}

// put writes a file, and fails the test when that fails.
func (f *files) put(path, body string) string {
	f.t.Helper()
	reply, err := f.write(toolabi.WorkspaceWriteRequest{Path: path, Body: []byte(body)})
	if err != nil {
		f.t.Fatal(err)
	}
	if reply.Path != path || reply.Size != uint64(len(body)) || reply.Artifact != toolabi.DigestOf([]byte(body)).String() {
		f.t.Errorf("writing %s answers %+v", path, reply)
	}
	return reply.Artifact
}

// at is a path of the test's own, below the workspace.
func (f *files) at(path string) string { return filepath.Join(f.dir, filepath.FromSlash(path)) }

// tree is everything in a directory: of a file its bytes, of anything else what it is.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			got[filepath.ToSlash(rel)] = "dir"
		case d.Type().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			got[filepath.ToSlash(rel)] = string(b)
		default:
			got[filepath.ToSlash(rel)] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantTree(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	if got := tree(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the directory holds %.400q, want %.400q", got, want)
	}
}
