package wrun_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
)

// A call that another journal left open, and that a fork there goes on with, sees of randomness what it saw when it began: what it drew
// while its module started is in the requests that its log holds.
func TestAForkGoesOnWithACallThatBeganInAnotherJournal(t *testing.T) {
	here, there := openHost(t, filepath.Join(t.TempDir(), "journal.db")), openHost(t, filepath.Join(t.TempDir(), "journal.db"))
	m, err := here.AddModule(wasmtest.Tool(t, "internal/wasmtest/guests/till"))
	if err != nil {
		t.Fatal(err)
	}
	driver := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Call(ctx, "old", "till.offer", []byte(`{}`)); err != nil {
			return nil, err
		}
		return r.Call(ctx, "new", "till.offer", []byte(`{}`))
	}}}
	waits := func(err error) {
		t.Helper()
		var waiting *runtime.WaitingError
		if !errors.As(err, &waiting) {
			t.Fatalf("it does not wait: %v", err)
		}
	}
	goOn := func(h *wrun.Host, run string) (runtime.Result, error) {
		t.Helper()
		for item, err := range h.Inbox(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Answer(t.Context(), item.Run, item.Step, runtime.Answer{Yes: true, By: "ann"}); err != nil {
				t.Fatal(err)
			}
		}
		return h.Drive(t.Context(), run, driver)
	}
	_, err = here.Run(t.Context(), "r", runtime.Spec{Driver: "test", Modules: []runtime.Module{m}}, driver)
	waits(err)
	_, err = goOn(here, "r") // the second person is asked, and nobody drives on
	waits(err)

	var exported bytes.Buffer
	if _, err := here.Export(t.Context(), "r", &exported, boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Import(t.Context(), &exported, boltdb.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Fork(t.Context(), "r", "old/2", "f", "ann", ""); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"old/2", "new/1", "new/2"} {
		if _, err = goOn(there, "f"); err == nil {
			t.Fatalf("%s was not asked", asked)
		}
		waits(err)
	}
	if _, err = goOn(there, "f"); err != nil {
		t.Fatal(err)
	}
	if got := replayed(t, there, "f", runtime.ReplayOptions{}); got != "old same\nnew same" {
		t.Errorf("replayed:\n%s", got)
	}
}
