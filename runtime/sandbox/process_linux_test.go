package sandbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// resetPeak makes what the process has now its peak.
func resetPeak(t testing.TB) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak cannot be reset: %v", err)
	}
}

// peak is the most memory that the process has had, in bytes: what is resident, whoever allocated it.
func peak() int64 { return status("VmHWM:") }

// resident is what it has now.
func resident() int64 { return status("VmRSS:") }

// status reads a size out of the kernel's account of this process.
func status(field string) int64 {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == field {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// mappings counts the pieces of the process's address space.
func mappings() int {
	b, _ := os.ReadFile("/proc/self/maps")
	return bytes.Count(b, []byte("\n"))
}

// processes counts the processes that this one has started and that are still there.
func processes() int {
	n := 0
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		n += len(bytes.Fields(b))
	}
	return n
}
