package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// An error whose text is not UTF-8 can still be written down, in the log of a failed run and of one that stops.
func TestErrorsThatAreNoTextAreWrittenDown(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	bad := errors.New("not \xff text")
	_, err := m.drive(m.start(nil), func(context.Context, *runtime.Run) ([]byte, error) { panic(bad) })
	if err == nil || m.status() != journal.Interrupted {
		t.Errorf("a driver that panics: %v, status %s", err, m.status())
	}
	_, err = m.drive(m.start(nil), func(context.Context, *runtime.Run) ([]byte, error) { return nil, bad })
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || m.status() != journal.Failed {
		t.Errorf("a driver that fails: %v, status %s", err, m.status())
	}
}

// The same for an error of a host function: what the tool sees is what a replay will show it.
func TestAnErrorOfAFunctionThatIsNoTextIsServedAsItWasShown(t *testing.T) {
	var seen []string
	m := newMachine(t, map[string]tool{"asks": func(g *guest, _ string) string {
		_, err := g.ask("odd", "")
		seen = append(seen, err.Message)
		g.must(toolabi.FuncHTTPSend, "a")
		return `1`
	}})
	odd := hostfuncs.Func{Name: "odd", Class: toolabi.Read, Call: func(context.Context, hostfuncs.Call, []byte) ([]byte, error) {
		return nil, &toolabi.Error{Code: toolabi.NotFound, Message: "not \xff text"}
	}}
	for n := range 2 {
		var store journaltest.Store = m.mem.Handle()
		if n == 0 {
			store = journaltest.CrashBefore(store, 3) // instead of the reply to a
		}
		e, err := runtime.New(runtime.Config{
			Journal: store, Invoker: &goInvoker{tools: m.tools, entered: map[string]int{}}, Funcs: append(m.funcs(), odd),
		})
		if err != nil {
			t.Fatal(err)
		}
		m.drive(&process{Engine: e}, steps("asks"))
	}
	if len(seen) != 2 || seen[0] != seen[1] || !utf8.ValidString(seen[0]) {
		t.Errorf("the tool saw %q", seen)
	}
}

// Errors of a driver are recorded so that they can be read again.
func TestADriversErrorsCanBeReadAgain(t *testing.T) {
	bad := &toolabi.Error{Message: "\xff", Detail: strings.Repeat("d", 100)}
	m := newMachine(t, nil)
	d := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Do(ctx, "ask", runtime.Act{Name: "ask", Class: toolabi.Read, Do: func(context.Context, runtime.Attempt) ([]byte, error) { return nil, bad }}); err == nil {
			t.Error("want an error")
		}
		return nil, bad
	}
	for range 2 {
		var failed *runtime.FailedError
		if _, err := m.drive(m.start(nil), d); !errors.As(err, &failed) || errors.Is(err, journal.ErrDamaged) {
			t.Errorf("ended with %v", err)
		}
	}
	journaltest.Check(t, m.mem)
}

// A refusal is recorded as it is shown, however long it is.
func TestARefusalIsServedAsItWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []toolabi.Error
		m := newMachine(t, map[string]tool{"x": func(g *guest, _ string) string {
			_, err := g.ask(toolabi.FuncHTTPSend, "charge")
			told = append(told, *err)
			time.Sleep(time.Second) // of the bubble's time: it is on the disk
			if len(told) == 1 {
				panic(unwound{journal.ErrUnusable})
			}
			return `1`
		}})
		for range 2 {
			m.drive(m.process(m.mem.Handle(), func(c *runtime.Config) {
				c.Funcs[0].Check = func(hostfuncs.Call, []byte) error {
					return &toolabi.Error{Code: toolabi.Denied, Message: "\xff" + strings.Repeat("é", 100_000), Detail: strings.Repeat("d", 200)}
				}
			}), steps("x"))
		}
		if len(told) != 2 || told[0] != told[1] {
			t.Errorf("the tool was told %d things, of %d and %d bytes", len(told), len(told[0].Message), len(told[len(told)-1].Message))
		}
	})
}

// A host function that panics is one that failed: the effect is in doubt, with what is known of it, and the engine works.
func TestAHostFunctionThatPanicsIsOneThatFailed(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": func(g *guest, _ string) string { return g.must(toolabi.FuncHTTPSend, "a") }})
	p := m.start(nil)
	m.world.during = func(string) { panic("oh") }
	for range 2 {
		_, err := m.drive(p, steps("x"))
		var u *runtime.UncertainError
		if !errors.As(err, &u) || u.Evidence == nil || !strings.Contains(u.Evidence.Err.Message, "panicked: oh") {
			t.Fatalf("ended with %v", err)
		}
	}
	if m.world.count("a") != 1 {
		t.Errorf("it was sent %d times", m.world.count("a"))
	}
}

// A call of CallAll has a goroutine of its own, in which a panic would end the process.
func TestAPanicInAParallelCallLeavesTheRunResumable(t *testing.T) {
	broken := true
	m := newMachine(t, map[string]tool{"pay": func(g *guest, input string) string {
		if broken {
			panic("a mistake of the host")
		}
		return `"` + g.must(toolabi.FuncHTTPSend, input) + `"`
	}})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var errs []error
		for _, res := range r.CallAll(ctx, []runtime.CallSpec{{Step: "a", Tool: "m.pay", Input: []byte(`1`)}, {Step: "b", Tool: "m.pay", Input: []byte(`2`)}}) {
			errs = append(errs, res.Err)
		}
		return []byte(`1`), errors.Join(errs...)
	}
	if _, err := m.drive(m.start(nil), driver); err == nil || !strings.Contains(err.Error(), "a mistake of the host") {
		t.Fatalf("it shows as %v", err)
	}
	broken = false
	if _, _, err := m.finish(driver); err != nil || m.world.total() != 2 {
		t.Errorf("resumed with %v, effects %v", err, m.world.effects)
	}
}
