package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// desk is a tool that does with files what it is told, in Go: what a script needs is a log, whatever wrote it.
type desk []any

func (d desk) Invoke(ctx context.Context, _ toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	for _, request := range d {
		name := toolabi.FuncWorkspaceWrite
		if _, removes := request.(toolabi.WorkspaceRemoveRequest); removes {
			name = toolabi.FuncWorkspaceRemove
		}
		raw, err := toolabi.Encode(request)
		if err != nil {
			return toolabi.Outcome{}, err
		}
		if answer, err := host(ctx, name, raw); err != nil || answer.Err != nil {
			return toolabi.Outcome{Err: answer.Err}, err
		}
	}
	return toolabi.Outcome{Output: []byte(`"done"`)}, nil
}

// filesRun leaves a finished run that wrote and removed files in the script's journal: filesrun RUN DIRECTORY.
func filesRun(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	path := ts.Getenv("WRUN_JOURNAL")
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	j, err := boltdb.Create(ctx, path, boltdb.Options{})
	ts.Check(err)
	defer j.Close()
	work := desk{
		toolabi.WorkspaceWriteRequest{Path: "notes.txt", Body: []byte("first\n")},
		toolabi.WorkspaceWriteRequest{Path: "out/report.md", Body: []byte("the report\n")},
		toolabi.WorkspaceWriteRequest{Path: "scratch", Body: []byte("scratch\n")},
		toolabi.WorkspaceWriteRequest{Path: "notes.txt", Body: []byte("second\n")},
		toolabi.WorkspaceRemoveRequest{Path: "scratch"},
	}
	e, err := runtime.New(runtime.Config{Journal: j, Invoker: work, Funcs: hostfuncs.Standard(hostfuncs.Config{})})
	ts.Check(err)
	wasm := []byte("the desk")
	digest := toolabi.DigestOf(wasm)
	spec := runtime.Spec{
		Driver: "test", Input: []byte(`{}`),
		Modules: []runtime.Module{{Name: "desk", Digest: digest, Manifest: toolabi.Manifest{Name: "desk", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "work"}}}}},
		Grants:  hostfuncs.Grants{Workspace: hostfuncs.WorkspaceGrant{Path: ts.MkAbs(args[1]), Write: true}},
	}
	_, err = e.Start(ctx, args[0], spec, map[toolabi.Digest][]byte{digest: wasm}, true)
	ts.Check(err)
	_, err = e.Drive(ctx, args[0], runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "work", "desk.work", []byte(`{}`))
	}}})
	ts.Check(err)
}
