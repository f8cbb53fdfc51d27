//go:build !wasip1

package toolabi_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// nodeWASI runs a WASI command with the whole file system, as far as the command asks for it.
const nodeWASI = `
const { WASI } = require("node:wasi");
const wasi = new WASI({ version: "preview1", args: process.argv.slice(1), env: { PWD: process.cwd() }, preopens: { "/": "/" } });
WebAssembly.instantiate(require("fs").readFileSync(process.argv[1]), wasi.getImportObject())
  .then(({ instance }) => { process.exitCode = wasi.start(instance); });
`

// The vectors hold in a guest as they do in the host: there the same tests run, compiled to WebAssembly.
func TestVectorsHoldInAGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary for WebAssembly")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Go's guests know no paths of Windows, and the vectors are files")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("VECTORS NOT TRIED IN A GUEST: there is no node here to run WASI with")
	}
	binary := filepath.Join(t.TempDir(), "toolabi.wasm")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, ".")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the guest's tests: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), node, "--no-warnings", "-e", nodeWASI, binary, "-test.run=Vectors|Manifest|Imports", "-test.v")
	out, err := run.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestVectorsDecodeToTheirValue")) {
		t.Errorf("run the guest's tests: %v\n%s", err, out)
	}
}
