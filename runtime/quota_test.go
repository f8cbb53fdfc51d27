package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// A quota stops a run between two steps, whichever: what has begun is recorded, and a process that allows more goes on.
func TestAQuotaStopsBetweenSteps(t *testing.T) {
	reply := bytes.Repeat([]byte("r"), 30<<10)
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		for _, step := range []journal.Step{"a", "b", "c", "d"} {
			act := runtime.Act{Name: "ask", Request: []byte(step), Class: toolabi.Effect, Do: func(context.Context, runtime.Attempt) ([]byte, error) { return reply, nil }}
			if _, err := r.Do(ctx, step, act); err != nil {
				return nil, err
			}
		}
		return []byte(`1`), nil
	}
	tests := map[string]struct {
		set     func(*runtime.Config, int64)
		journal bool
	}{
		"of a run":       {func(c *runtime.Config, n int64) { c.RunQuota = n }, false},
		"of the journal": {func(c *runtime.Config, n int64) { c.JournalQuota = n }, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{})
			for i, quota := range []int64{1, 20 << 10, 50 << 10, 80 << 10} { // i steps fit, and the first to go beyond is made whole
				p := m.process(m.mem.Handle(), func(c *runtime.Config) { tt.set(c, quota) })
				_, err := m.drive(p, driver)
				var q *runtime.QuotaError
				if !errors.As(err, &q) || q.Journal != tt.journal || q.Limit != quota || q.Used < quota || q.Run != "r" {
					t.Fatalf("with %d bytes the run ends with %v", quota, err)
				}
				if got := results(m); got != i {
					t.Errorf("with %d bytes there are %d results, want %d", quota, got, i)
				}
				for s, err := range m.mem.List(t.Context(), journal.Query{Run: "r"}) {
					if err != nil || s.Stopped != journal.StopLimit || p.Status(&s) != journal.Limited {
						t.Errorf("it is stopped as %q, status %v, %v", s.Stopped, p.Status(&s), err)
					}
				}
				if err := p.Work(t.Context(), func(run string, _ runtime.Result, err error) bool {
					t.Errorf("an automatic driver goes on with it: %v", err)
					return true
				}); err != nil {
					t.Error(err)
				}
				p.store.Close()
			}
			p := m.process(m.mem.Handle(), func(c *runtime.Config) { tt.set(c, 1<<40) })
			if _, err := m.drive(p, driver); err != nil || results(m) != 4 {
				t.Errorf("with more: %d results, %v", results(m), err)
			}
			p.store.Close()
		})
	}
}

// results counts the results in the run's log.
func results(m *machine) (n int) {
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err != nil {
			m.t.Fatal(err)
		}
		if e.Kind == journal.Result {
			n++
		}
	}
	return n
}

// What a run takes are its entries, their bodies in blobs, each once, and its artifacts; not its modules.
func TestWhatARunTakesIsCounted(t *testing.T) {
	const part = 200 << 10
	long := string(bytes.Repeat([]byte("l"), part))
	m := newMachine(t, map[string]tool{
		"put": func(g *guest, _ string) string { g.must(toolabi.FuncHTTPSend, long); return `1` },
		"x":   one("x"),
	})
	drive := func(quota int64, calls ...string) error {
		p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.RunQuota = quota })
		defer p.store.Close()
		_, err := m.drive(p, steps(calls...))
		return err
	}
	var q *runtime.QuotaError
	if err := drive(part, "put", "x"); !errors.As(err, &q) || q.Step != "s2" {
		t.Fatalf("a request and a reply of %d bytes, in a quota of as many: %v", part, err)
	}
	if q.Used < 2*part || q.Used > 2*part+8<<10 {
		t.Errorf("the run takes %d bytes, want little more than %d", q.Used, 2*part)
	}
	if err := drive(3*part, "put", "x"); err != nil {
		t.Error(err)
	}
}

func TestAQuotaThatCannotBeKeptIsRefused(t *testing.T) {
	m := newMachine(t, nil)
	for name, cfg := range map[string]runtime.Config{
		"less than nothing":            {Journal: m.mem, RunQuota: -1},
		"a journal without a size":     {Journal: noOwners{m.mem}, JournalQuota: 1},
		"a journal's, less than there": {Journal: m.mem, JournalQuota: -1},
	} {
		if _, err := runtime.New(cfg); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
