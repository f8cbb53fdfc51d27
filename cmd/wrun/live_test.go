package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/screen"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// newLines returns lines that nothing draws, and what is written above them.
func newLines(t *testing.T) (l *live, said *bytes.Buffer) {
	t.Helper()
	nowhere, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nowhere.Close() })
	said = new(bytes.Buffer)
	return &live{a: &app{errOut: said}, screen: screen.NewLive(nowhere)}, said
}

func TestAStepHasALineUntilItEnds(t *testing.T) {
	l, said := newLines(t)
	tell := func(step journal.Step, phase runtime.Phase, more runtime.Event) {
		more.Run, more.Step, more.Phase = "r", step, phase
		l.observe(more)
	}
	tell("charge", runtime.Begun, runtime.Event{Name: "pay.charge"})
	tell("note[1]", runtime.Begun, runtime.Event{Name: "pay.note"})
	tell("charge/1", runtime.Begun, runtime.Event{Name: "http_send", Text: "POST x\x1b[2J"})
	tell("note[1]/1", runtime.Begun, runtime.Event{Name: "kv_get"})
	tell("note[1]/1", runtime.Ended, runtime.Event{Name: "kv_get", Size: 1200})
	tell("note[1]", runtime.Progressed, runtime.Event{Text: "5/10 lines", Done: 5, Total: 10})
	tell("nobody/1", runtime.Begun, runtime.Event{Name: "kv_get"})
	if lines := l.text(time.Now()); len(lines) != 0 {
		t.Errorf("what began just now has lines already: %q", lines)
	}
	got := strings.Join(l.text(time.Now().Add(2*time.Second)), "\n")
	want := regexp.MustCompile(`^[-|/\\] charge       pay\.charge  [12]\.\ds  http_send POST x
[-|/\\] note\[1\]      pay\.note  [12]\.\ds  1\.2 kB  \[##########          \]  50 %  5/10 lines$`)
	if !want.MatchString(got) {
		t.Errorf("the lines are\n%s", got)
	}
	tell("charge", runtime.Ended, runtime.Event{Name: "pay.charge", Size: 7})
	denied := toolabi.NewError(toolabi.Denied, "no")
	tell("note[0]", runtime.Begun, runtime.Event{Name: "pay.note"})
	tell("note[0]", runtime.Ended, runtime.Event{Name: "pay.note", Err: denied})
	l.left("other", runtime.ErrInterrupted)
	l.left("r", &runtime.WaitingError{})
	l.left("r", runtime.ErrInterrupted)
	if want := regexp.MustCompile(`^  charge       done      pay\.charge \([\d.]+ms, 1 host call, 7 bytes\)
  note\[0\]      denied    pay\.note \([\d.]+ms\)
  note\[1\]      waiting   pay\.note \([\d.]+ms, 1 host call\)
$`); !want.MatchString(said.String()) {
		t.Errorf("what stays is\n%s", said)
	}
	if lines := l.text(time.Now().Add(time.Hour)); len(lines) != 0 {
		t.Errorf("nothing is under way, and there is %q", lines)
	}
}

// More steps than a screen has lines are counted, and what belongs to several runs says to which.
func TestThereAreNoMoreLinesThanAScreenHas(t *testing.T) {
	l, _ := newLines(t)
	l.a.several = true
	for i := range 40 {
		l.observe(runtime.Event{Run: "r", Step: journal.Step(fmt.Sprintf("s[%d]", i)), Phase: runtime.Begun, Name: "x"})
	}
	_, rows := l.screen.Room()
	lines := l.text(time.Now().Add(time.Second))
	if want := fmt.Sprintf("  and %d more", 40-rows+1); len(lines) != rows || lines[rows-1] != want || !strings.Contains(lines[0], " r s[0] ") {
		t.Errorf("%d lines, of %d, the first is %q, the last %q, want %q", len(lines), rows, lines[0], lines[len(lines)-1], want)
	}
}

func TestNobodyDrawsForAPipe(t *testing.T) {
	a := &app{errOut: new(bytes.Buffer)}
	if a.live() != nil {
		t.Error("there are lines")
	}
	a.live().observe(runtime.Event{Step: "x", Phase: runtime.Begun})
	a.live().left("r", nil)
	a.live().begin("x", nil)
	a.live().end("x")
	a.live().close()
}
