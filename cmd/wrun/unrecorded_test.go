package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
)

// Every reply that could not be recorded has the command that records it; one that could be saved nowhere is on standard error.
func TestWhatCouldNotBeRecordedIsSaid(t *testing.T) {
	var out bytes.Buffer
	a := &app{errOut: &out, quiet: true}
	err := &runError{"r", &runtime.UnrecordedError{
		Run: "r", Err: &runtime.JournalError{Run: "r", Err: fmt.Errorf("append: %w", journal.ErrNoSpace)},
		Replies: []runtime.Unrecorded{
			{Step: "a/1", Said: []byte(`{"status":201}`), Path: "/tmp/wrun-rescued-r-1.json"},
			{Step: "b/1", Said: []byte(`{"status":202}`), Err: errors.New("no room anywhere")},
		},
	}}
	if code := a.report(context.Background(), err); code != exitUncertain {
		t.Errorf("exit code %d, want %d", code, exitUncertain)
	}
	for _, want := range []string{
		"error[W0417]: ", "no space left for the journal", "wrun resolve r a/1 --happened @/tmp/wrun-rescued-r-1.json\n", "wrun resolve r b/1 --happened -, with the reply above\n",
		"the reply of b/1 of run r could not be recorded, nor saved (no room anywhere); it is:\n{\"status\":202}\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said in\n%s", want, out.String())
		}
	}
}

func TestAStoppedHolderHasTheCommandThatLetsItGoOn(t *testing.T) {
	for _, tt := range []struct {
		held  boltdb.HeldError
		title string
		next  string
	}{
		{boltdb.HeldError{Path: "/j", PID: 4711, Stopped: true}, "/j is held by process 4711, which is stopped", "kill -CONT 4711\nthe same command"},
		{boltdb.HeldError{Path: "/j", PID: 4711}, "/j is held by process 4711", "try again"},
		{boltdb.HeldError{Path: "/j"}, "/j is held by another process", "try again"},
	} {
		p := new(app).problem(fmt.Errorf("open journal: %w", &tt.held))
		if p.code.id != "W0304" || p.exit != exitBusy || !strings.HasSuffix(p.title, tt.title) || p.next != tt.next {
			t.Errorf("%+v: %s, %d, %q, %q", tt.held, p.code.id, p.exit, p.title, p.next)
		}
	}
}
