package toolbuild

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wrun-dev/wrun/internal/tooltoml"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// getC says where the parts of a compiler for C come from.
const getC = "apt-get install clang lld wasi-libc libclang-rt-dev-wasm32 (on Debian and Ubuntu; elsewhere unpack wasi-sdk and say where it is with WASI_SDK_PATH)"

// target is what the compiler makes: WebAssembly with the C library of WASI preview 1, entered by its exports.
const target = "--target=wasm32-wasi"

// Clang is a compiler for C.
type Clang struct {
	path string
	args []string
}

// FindClang finds the compiler of the wasi-sdk that WASI_SDK_PATH names, or else the one on the PATH, and sees that its parts are
// there. The error is a *MissingError.
func FindClang(ctx context.Context) (*Clang, error) {
	c := &Clang{path: "clang", args: []string{target}}
	if sdk := os.Getenv("WASI_SDK_PATH"); sdk != "" {
		c.path = filepath.Join(sdk, "bin", "clang")
		c.args = append(c.args, "--sysroot="+filepath.Join(sdk, "share", "wasi-sysroot"))
	}
	if !found(c.path) {
		return nil, &MissingError{Lang: C, Parts: []string{"clang"}, Get: getC}
	}
	if parts := missing(map[string]bool{
		"wasm-ld":                         c.has(ctx, "-print-prog-name=wasm-ld"),
		"wasi-libc":                       c.has(ctx, "-print-file-name=crt1-reactor.o"),
		"libclang_rt.builtins for wasm32": c.has(ctx, "-print-libgcc-file-name"),
	}); len(parts) > 0 {
		return nil, &MissingError{Lang: C, Parts: parts, Get: getC}
	}
	return c, nil
}

// has asks the compiler where it finds a part of itself, and whether that is there. What it does not find it returns as a bare name.
func (c *Clang) has(ctx context.Context, question string) bool {
	out, err := exec.CommandContext(ctx, c.path, append(c.args, question)...).Output()
	at := strings.TrimSpace(string(out))
	if err != nil || at == "" {
		return false
	}
	if filepath.Base(at) == at {
		return found(at)
	}
	_, err = os.Stat(at)
	return err == nil
}

// Compile makes a module without a manifest of the sources, whose names are relative to dir.
func (c *Clang) Compile(ctx context.Context, dir string, sources []string, out string) error {
	args := append(c.args[:len(c.args):len(c.args)],
		"-mexec-model=reactor", "-std=gnu11", "-Os", "-Wall", "-Wextra",
		"-fno-strict-aliasing",        // messages are structs and bytes by turns
		"-Werror=date-time",           // which would be others each time
		"-ffile-prefix-map="+dir+"=.", // __FILE__ is the same wherever dir lies
		"-Wl,--strip-all",             // names and paths are for debuggers
		"-Wl,--stack-first",           // what overflows the stack traps, and does not overwrite data
		"-Wl,-z,stack-size=1048576",   // the linker's own are 64 KiB
		"-o", out)
	return run(ctx, dir, nil, c.path, append(args, sources...)...)
}

// buildC compiles the sources and attaches the manifest that stands beside them.
func buildC(ctx context.Context, dir string, sources []string, out string) ([]byte, error) {
	file := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	manifest, err := tooltoml.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	clang, err := FindClang(ctx)
	if err != nil {
		return nil, err
	}
	if err := clang.Compile(ctx, dir, sources, out); err != nil {
		return nil, err
	}
	wasm, err := sandbox.ReadFile(out)
	if err != nil {
		return nil, err
	}
	wasm, err = sandbox.AttachManifest(wasm, manifest)
	return wasm, describeError(err, dir)
}
