package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Rest says of a run what driving it would, and neither drives nor claims it.
func TestRestSaysWhatARunNeeds(t *testing.T) {
	const dead = "an owner that has died"
	type es = []journal.Entry
	intent := func(step journal.Step, cut journal.OnCut, due int64) journal.Entry {
		return journal.Entry{Kind: journal.Intent, Step: step, Name: toolabi.FuncApprove, OnCut: cut, Request: journal.DigestOf(nil), Key: "k", SendBy: 1, Owner: dead, Due: due, Note: "may I?"}
	}
	claimed := journal.Entry{Kind: journal.Claimed, Owner: dead}
	released := func(why, note string) journal.Entry {
		return journal.Entry{Kind: journal.Released, Owner: dead, Name: why, Note: note}
	}
	future := time.Now().Add(time.Hour).UnixNano()
	var (
		waiting  *runtime.WaitingError
		stopped  *runtime.StoppedError
		doubt    *runtime.UncertainError
		late     *runtime.LateError
		restored *runtime.UnconfirmedError
	)
	for _, c := range []struct {
		name string
		log  es
		is   func(error) bool
		text string // of the error; "" for a run that nobody drives and that could go on
	}{
		{"nothing yet", nil, nil, ""},
		{"cut off", es{claimed, intent("a", journal.Redo, 0)}, nil, ""},
		{"let go of", es{claimed, released(journal.StopInterrupted, "")}, nil, ""},
		{"cancelled, and not closed", es{claimed, intent("a", journal.Await, 0), {Kind: journal.Cancel}}, nil, ""},
		{"its time has come", es{claimed, intent("a", journal.Await, 1), func() journal.Entry { r := released(journal.StopWaiting, ""); r.Due = 1; return r }()}, nil, ""},
		{"answered", es{claimed, intent("a", journal.Await, 0), released(journal.StopWaiting, ""), {Kind: journal.Result, Step: "a", Outcome: journal.OK}}, nil, ""},
		{"asks", es{claimed, intent("a", journal.Await, 0), released(journal.StopWaiting, "")}, func(err error) bool { return errors.As(err, &waiting) }, "run r waits at a for somebody to agree"},
		{"asks, and has died", es{claimed, intent("z", journal.Await, future), intent("a", journal.Await, 0)}, func(err error) bool { return errors.As(err, &waiting) && len(waiting.Also) == 1 }, "run r waits at a for somebody to agree; and at z"},
		{"pauses", es{claimed, func() journal.Entry { r := released(journal.StopWaiting, "it pauses"); r.Due = future; return r }()}, func(err error) bool { return errors.As(err, &stopped) }, "it pauses"},
		{"in doubt", es{claimed, intent("a", journal.Doubt, 0), released(journal.StopUncertain, "")}, func(err error) bool { return errors.As(err, &doubt) }, "outcome unknown: a of run r (approve) may or may not have happened"},
		{"in doubt, and has died", es{claimed, intent("a", journal.Doubt, 0)}, func(err error) bool { return errors.As(err, &doubt) }, "outcome unknown: a of run r (approve) may or may not have happened"},
		{"limited", es{claimed, released(journal.StopLimit, "enough")}, func(err error) bool { return errors.As(err, &stopped) }, "enough"},
		{"diverged", es{claimed, released(journal.StopDiverged, "")}, func(err error) bool { return errors.As(err, &stopped) }, "run r was stopped: diverged"},
		{"late", es{claimed, {Kind: journal.Late, Step: "a", Outcome: journal.OK, Owner: dead}, released(journal.StopUncertain, "")}, func(err error) bool { return errors.As(err, &late) }, "run r has outcomes that arrived too late to count"},
		{"restored", es{claimed, {Kind: journal.Restored}}, func(err error) bool { return errors.As(err, &restored) }, "run r was restored from a backup: what it does next may have happened after the backup was made"},
		{"imported", es{claimed, {Kind: journal.Record, Name: journal.RecordImported}}, func(err error) bool { return errors.Is(err, journal.ErrImported) }, "run r: " + journal.ErrImported.Error()},
		{"crashed again and again", es{claimed, claimed, claimed, claimed}, func(err error) bool { return errors.As(err, &stopped) }, "run r crashed 3 times in a row without progress; nobody goes on with it by itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, nil)
			p := m.start(nil)
			log := append(es{{Kind: journal.Created, Name: "test"}}, c.log...)
			owner := m.start(nil)
			id, err := owner.store.Owner()
			if err != nil || owner.store.Close() != nil {
				t.Fatal(err)
			}
			for i := range log {
				if log[i].Time = 1; log[i].Owner == dead {
					log[i].Owner = id
				}
			}
			if err := p.store.Append(t.Context(), "r", 0, log...); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			idle := false
			_, err = p.Rest(ctx, "r", func() { idle = true; cancel() })
			if c.text == "" {
				if !idle || !errors.Is(err, context.Canceled) {
					t.Errorf("it is not idle: %v", err)
				}
			} else if idle || err == nil || !c.is(err) || err.Error() != c.text {
				t.Errorf("got %v, want %s", err, c.text)
			}
			if n := len(m.log()); n != len(log) {
				t.Errorf("%d entries were written", n-len(log))
			}
		})
	}
}

// Rest waits while a process drives the run, and has what comes of it.
func TestRestWaitsForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"slow": func(*guest, string) string { time.Sleep(time.Minute); return `"at last"` }})
		p, other := m.start(nil), m.start(nil)
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
			t.Fatal(err)
		}
		came := make(chan runtime.Result)
		go func() {
			res, err := other.Rest(t.Context(), "r", func() { t.Error("it is said that nobody drives it") })
			if err != nil {
				t.Error(err)
			}
			came <- res
		}()
		_, err := p.Drive(t.Context(), "r", callOne("slow"))
		if res := <-came; err != nil || string(res.Output) != `"at last"` || !res.Replayed {
			t.Errorf("%+v, %v", res, err)
		}
		limited, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("patience"))
		defer cancel()
		if _, err := other.Rest(limited, "nosuch", nil); !errors.Is(err, journal.ErrNotFound) {
			t.Error(err)
		}
	})
}
