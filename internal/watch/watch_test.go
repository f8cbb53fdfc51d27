package watch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/watch"
)

// watcher is a directory that is watched, whose ticks the test gives.
type watcher struct {
	t     *testing.T
	dir   string
	ticks chan time.Time
	calls chan struct{}
	ended chan error
	// looked has one for each time that all but the last file was looked at.
	looked chan struct{}
}

func start(t *testing.T) *watcher {
	t.Helper()
	w := &watcher{t: t, dir: t.TempDir(), ticks: make(chan time.Time), calls: make(chan struct{}, 1), ended: make(chan error, 1), looked: make(chan struct{}, 1)}
	w.write("main.go", "one")
	w.write("sub/a.go", "one")
	w.write("zz", "last")
	ctx, cancel := context.WithCancel(t.Context())
	d := watch.Dir{Path: w.dir, Skip: func(path string) bool {
		if filepath.Base(path) == "zz" {
			w.looked <- struct{}{}
		}
		return filepath.Ext(path) == ".wasm" || filepath.Base(path) == ".git"
	}}
	go func() {
		w.ended <- d.Each(ctx, w.ticks, func(context.Context) { w.calls <- struct{}{} })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-w.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	<-w.looked
	<-w.calls
	return w
}

func (w *watcher) tick() {
	w.ticks <- time.Time{}
	<-w.looked
}

func (w *watcher) write(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// called gives so many ticks and says how often the function was called by then. A tick is taken only when the one before was dealt with.
func (w *watcher) called(ticks int) (n int) {
	w.t.Helper()
	for range ticks {
		w.tick()
		select {
		case <-w.calls:
			n++
		default:
		}
	}
	w.tick() // now the last one was dealt with
	select {
	case <-w.calls:
		n++
	default:
	}
	return n
}

func TestAChangeIsSeenOnceItHasComeToRest(t *testing.T) {
	w := start(t)
	if n := w.called(3); n != 0 {
		t.Errorf("called %d times for nothing", n)
	}
	for what, change := range map[string]func(){
		"a longer file":          func() { w.write("main.go", "longer") },
		"a new file":             func() { w.write("new.go", "new") },
		"a file below":           func() { w.write("sub/a.go", "longer") },
		"a file in a new folder": func() { w.write("deep/er/a.go", "a") },
		"a file less":            func() { os.Remove(filepath.Join(w.dir, "sub/a.go")) },
		"a file of another time": func() { os.Chtimes(filepath.Join(w.dir, "main.go"), time.Time{}, time.Unix(1, 0)) },
	} {
		change()
		if n := w.called(3); n != 1 {
			t.Errorf("%s: called %d times, want 1", what, n)
		}
	}
}

func TestWhileFilesChangeNothingIsDone(t *testing.T) {
	w := start(t)
	for i := range 5 {
		w.write("main.go", strings.Repeat("x", 10+i))
		w.tick()
	}
	select {
	case <-w.calls:
		t.Error("called in the middle of it")
	default:
	}
	if n := w.called(2); n != 1 {
		t.Errorf("called %d times, want 1", n)
	}
}

func TestWhatIsSkippedIsNoChange(t *testing.T) {
	w := start(t)
	w.write("tool.wasm", "built")
	w.write(".git/index", "staged")
	if n := w.called(3); n != 0 {
		t.Errorf("called %d times", n)
	}
}

func TestADirectoryThatIsGoneEndsIt(t *testing.T) {
	d := watch.Dir{Path: filepath.Join(t.TempDir(), "gone")}
	err := d.Each(t.Context(), nil, func(context.Context) { t.Error("called") })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
