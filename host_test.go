package wrun_test

import (
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun"
	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// TestARefusedModuleIsNotAdded adds what Inspect returns beside its error.
func TestARefusedModuleIsNotAdded(t *testing.T) {
	host, err := wrun.Open(t.Context(), wrun.Config{Journal: filepath.Join(t.TempDir(), "journal.db"), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	refused, err := sandbox.Inspect(Header) // a module without anything, which is no tool
	if err == nil || refused == nil {
		t.Fatal(refused, err)
	}
	if m, err := host.AddInspected(refused); err == nil {
		t.Errorf("%+v was added", m)
	}
	if _, err := host.AddModule(Header); err == nil {
		t.Error("its bytes were added")
	}
	text := Tool(t, "tools/text")
	taken, err := sandbox.Inspect(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := host.AddInspected(taken)
	if err != nil || m.Name != "text" || m.Digest != taken.Digest {
		t.Errorf("%+v, %v", m, err)
	}
}
