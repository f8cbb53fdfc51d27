package toolbuild

import (
	"context"

	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// getGo says where Go comes from: what distributions have is often older than the SDK wants.
const getGo = "install Go from https://go.dev/dl, and put its bin directory on the PATH"

// buildGo compiles the package in dir, asks the module for its manifest and attaches that.
func buildGo(ctx context.Context, dir, out string) ([]byte, error) {
	if !found("go") {
		return nil, &MissingError{Lang: Go, Parts: []string{"go command on the PATH"}, Get: getGo}
	}
	env := []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"}
	if err := run(ctx, dir, env, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", out, "."); err != nil {
		return nil, err
	}
	wasm, err := sandbox.ReadFile(out)
	if err != nil {
		return nil, err
	}
	manifest, err := sandbox.Describe(ctx, wasm)
	if err != nil {
		return nil, describeError(err, dir)
	}
	wasm, err = sandbox.AttachManifest(wasm, manifest)
	return wasm, describeError(err, dir)
}
