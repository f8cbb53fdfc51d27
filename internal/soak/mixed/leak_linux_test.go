package mixed_test

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/internal/soak/mixed"
)

// TestALeakIsFoundOut keeps a file open and a page of it mapped for every call, as long as the system has room for it.
func TestALeakIsFoundOut(t *testing.T) {
	const most = 1000 // in each cycle
	var mu sync.Mutex
	kept := map[int]int{}
	var pages [][]byte
	var files []*os.File
	t.Cleanup(func() {
		for i := range files {
			if err := syscall.Munmap(pages[i]); err != nil {
				t.Error(err)
			}
			files[i].Close()
		}
	})
	report, err := mixed.Run(t.Context(), short().WithEach(func(cycle int) {
		mu.Lock()
		defer mu.Unlock()
		if kept[cycle]++; kept[cycle] > most {
			return
		}
		f, err := os.Open("/proc/self/exe")
		if err != nil {
			t.Error(err)
			return
		}
		page, err := syscall.Mmap(int(f.Fd()), 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			t.Error(err)
			f.Close()
			return
		}
		files, pages = append(files, f), append(pages, page)
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Log(kept)
	grown := report.Err()
	for _, what := range []string{"rest descriptors", "closed descriptors", "closed mappings"} {
		if grown == nil || !strings.Contains(grown.Error(), what) {
			t.Errorf("the judgement is %v, want it to name %q", grown, what)
		}
	}
}
