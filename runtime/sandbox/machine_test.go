package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDefaultBudget(t *testing.T) {
	for machine, want := range map[uint64]uint64{0: 1 << 30, 512 << 20: 256 << 20, 8 << 30: 4 << 30, 1 << 40: 4 << 30} {
		if got := defaultBudget(machine); got != want {
			t.Errorf("a machine of %d bytes: %d, want %d", machine, got, want)
		}
	}
}

func TestContainerMemory(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]uint64{
		"max\n": 0, "536870912\n": 512 << 20, "": 0, "-1": 0, "0": 0, "x": 0, "9223372036854771712\n": 9223372036854771712,
		"99999999999999999999999": 0,
	} {
		file := filepath.Join(dir, "memory.max")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := containerMemory([]string{filepath.Join(dir, "none"), file}); got != want {
			t.Errorf("%q: %d, want %d", content, got, want)
		}
	}
}
