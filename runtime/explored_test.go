package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// What the explorer (internal/explore) has found, each with the fewest steps that show it.

// A lease can end between the claim and the first look at the log behind it. Who was taken over in that moment does not
// act under the name of the one that took over.
func TestAClaimThatWasTakenOverAtOnceIsNotActedUpon(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	taken := false
	store := journaltest.HookAppends(m.mem.Handle(), func(n int, committed bool) {
		if n == 2 && committed { // 1 is created, 2 the claim
			taken = true
			m.steal()
		}
	})
	p := m.process(store, func(c *runtime.Config) { c.Journal = noOwners{store} })
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("x")}})
	var busy *runtime.BusyError
	if !taken || !errors.As(err, &busy) || m.world.total() != 0 {
		t.Errorf("ended with %v after %d effects; log %v", err, m.world.total(), m.log())
	}
}

// A tool repeats a request whose outcome is unknown. That one repetition found no connection says nothing of the first
// request: the next repetition is still the same request, and has the same key.
func TestARepetitionThatDidNotLeaveKeepsTheKey(t *testing.T) {
	m := newMachine(t, map[string]tool{"keyed": func(g *guest, _ string) string {
		for range 3 {
			if _, err := g.ask(toolabi.FuncHTTPSend, "k"); err == nil {
				break
			}
		}
		g.must(toolabi.FuncHTTPSend, "k") // this one is meant as another
		return `1`
	}})
	m.world.drop = 1
	sends := 0
	p := m.process(m.mem.Handle(), sending(func(ctx context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
		if sends++; sends == 2 {
			return nil, toolabi.NewError(toolabi.Unavailable, "connection refused; nothing was sent")
		}
		return m.world.send(ctx, c, request)
	}))
	if _, err := m.drive(p, steps("keyed")); err != nil {
		t.Fatal(err)
	}
	if k := m.world.keys["k"]; len(k) != 3 || k[0] != k[1] || k[1] == k[2] {
		t.Errorf("keys %v, want the first two to be the same and the third another", k)
	}
}

// Whether a key is still remembered is looked at last, because what is before it can take long.
func TestAnEffectThatWasHeldUpPastItsKeyIsNotSent(t *testing.T) {
	m := newMachine(t, map[string]tool{"keyed": one("k")})
	now := time.Now()
	clock := func(c *runtime.Config) { c.Now = func() time.Time { return now } }
	h := m.mem.Handle()
	m.world.during = func(string) { m.world.during = nil; h.Kill() }
	if _, err := m.drive(m.process(h, clock), steps("keyed")); err == nil {
		t.Fatal("the kill went by unseen")
	}
	slow := lookedAt{Store: m.mem.Handle(), on: func() { now = now.Add(2 * time.Hour) }} // the key is remembered for one
	_, err := m.drive(m.process(slow, clock), steps("keyed"))
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Why == "" || m.world.count("k") != 1 {
		t.Errorf("ended with %v after %d sends", err, m.world.count("k"))
	}
}

// A call that was cut off is not entered again by a process that knows that the run is cancelled.
func TestACancelledRunEntersNothingAgain(t *testing.T) {
	m := newMachine(t, map[string]tool{"idem_x": one("a"), "idem_y": one("b")})
	h := m.mem.Handle()
	sent := make(chan struct{})
	m.world.during = func(request string) {
		if request == "b" {
			close(sent)
		}
		<-sent
		h.Kill()
	}
	_, err := m.drive(m.process(h, nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		r.CallAll(ctx, []runtime.CallSpec{{Step: "s1", Tool: "m.idem_x", Input: []byte(`{}`)}, {Step: "s2", Tool: "m.idem_y", Input: []byte(`{}`)}})
		return nil, nil
	})
	if err == nil {
		t.Fatal("the kill went by unseen")
	}
	m.world.during = func(string) { m.say(journal.Entry{Kind: journal.Cancel}) }
	p := m.start(nil)
	_, err = m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Call(ctx, "s1", "m.idem_x", []byte(`{}`)); err != nil {
			return nil, err
		}
		if err := r.Flush(); err != nil { // now it knows
			return nil, err
		}
		return r.Call(ctx, "s2", "m.idem_y", []byte(`{}`))
	})
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled || p.invoker.entered["idem_y"] != 0 {
		t.Errorf("ended with %v, entered %v", err, p.invoker.entered)
	}
}

// A process that was taken over does nothing more, also nothing that it would not have to announce.
func TestAFencedProcessReadsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, nil)
		m.tools = map[string]tool{"read": func(g *guest, _ string) string {
			for i := range 20 {
				if i == 2 {
					m.steal()
				}
				g.must(toolabi.FuncClock, "")
				time.Sleep(2 * rideAlong) // of the bubble's time: nothing rides along for longer
			}
			return `1`
		}}
		_, err := m.drive(m.start(nil), steps("read"))
		var busy *runtime.BusyError
		if !errors.As(err, &busy) || m.reads > 3 {
			t.Errorf("ended with %v after %d reads", err, m.reads)
		}
	})
}

// After a backup was restored, a key may have been used that the log does not know of, so long ago that the provider has
// forgotten it. What is not repeated under a key for ever is not begun before somebody confirms the run.
func TestARestoredRunAsksBeforeItSendsUnderAKeyThatIsForgotten(t *testing.T) {
	for name, sent := range map[string]int{"keyed": 0, "idem": 1} {
		m := newMachine(t, map[string]tool{name: one("a")})
		p := m.start(nil)
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
			t.Fatal(err)
		}
		m.say(journal.Entry{Kind: journal.Restored, By: "somebody"})
		_, err := m.drive(p, steps(name))
		var un *runtime.UnconfirmedError
		if errors.As(err, &un) != (sent == 0) || m.world.count("a") != sent {
			t.Errorf("%s ended with %v, sent %d times", name, err, m.world.count("a"))
		}
		m.say(journal.Entry{Kind: journal.Record, Name: journal.RecordConfirmed, By: "somebody"})
		if _, err := m.drive(p, steps(name)); err != nil || m.world.count("a") != 1 {
			t.Errorf("%s, confirmed, ended with %v, sent %d times", name, err, m.world.count("a"))
		}
	}
}

// A second attempt of a call sends under the key of the first, and may be held up like any repetition.
func TestAnotherAttemptThatWasHeldUpPastItsKeyIsNotSent(t *testing.T) {
	entered, now := 0, time.Now()
	m := newMachine(t, map[string]tool{"keyed": func(g *guest, _ string) string {
		entered++
		g.must(toolabi.FuncHTTPSend, "k")
		e := toolabi.NewError(toolabi.Unavailable, "not now")
		e.Retry = toolabi.RetrySafe
		panic(e)
	}})
	m.declare = retrying(2, time.Millisecond)
	slow := lookedAt{Store: m.mem.Handle(), on: func() {
		if entered == 2 {
			now = now.Add(2 * time.Hour) // the key is remembered for one
		}
	}}
	_, err := m.drive(m.process(slow, func(c *runtime.Config) {
		c.Now, c.Invoker = func() time.Time { return now }, failing(c.Invoker.(*goInvoker))
	}), steps("keyed"))
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Why == "" || m.world.count("k") != 1 {
		t.Errorf("ended with %v after %d sends", err, m.world.count("k"))
	}
}

// A look-up was cut off in the middle. Somebody who knows what became of the effect says so all the same.
func TestALookupThatWasCutOffDoesNotKeepAnybodyFromSettling(t *testing.T) {
	for _, happened := range []bool{true, false} {
		m := looking(t, nil)
		m.cutOff(t, happened)
		_, err := m.drive(m.start(func(s journaltest.Store) journaltest.Store { return journaltest.CrashAfter(s, 2) }), pay)
		if log := m.log(); !errors.Is(err, journal.ErrUnusable) || log[len(log)-1] != "intent s/1/1" {
			t.Fatalf("the crash shows as %v, log %v", err, log)
		}
		p := m.start(nil)
		said := runtime.Resolution{Happened: happened, Now: true}
		if happened {
			said.Reply = []byte("done pay 1")
		}
		if err := p.Resolve(t.Context(), "r", "s/1", said); err != nil {
			t.Fatal(err)
		}
		if _, err := m.drive(p, pay); err != nil || m.world.count("pay 1") != 1 {
			t.Errorf("happened %v: %v, %v", happened, err, m.world.effects)
		}
	}
}

// An answer can come while the run is still driven, in the log before the release that says that it waits. Whoever looks for
// work goes on with it all the same.
func TestAnAnswerThatComesBeforeTheReleaseWakesTheRun(t *testing.T) {
	for name, answer := range map[string]runtime.Answer{"yes": {Yes: true}, "no": {}} {
		m := agreeing(t)
		driver := pays(`1`)
		p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: driver}} })
		_, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			out, err := driver(ctx, r)
			if flushErr := r.Flush(); flushErr != nil { // another branch, which is still busy
				return nil, flushErr
			}
			if err := m.start(nil).Answer(ctx, "r", "a", answer); err != nil {
				t.Error(err)
			}
			return out, err
		})
		var w *runtime.WaitingError
		if !errors.As(err, &w) {
			t.Fatalf("%s: ended with %v", name, err)
		}
		if got := work(t, p); len(got) != 1 || m.status() == journal.Waiting {
			t.Errorf("%s: drove %v, status %s, log %v", name, got, m.status(), m.log())
		}
	}
}

// A question is about to be put again, because of what was granted meanwhile, when the yes to the one before is taken back.
// Then it is not put again, and the run does not wait for an answer to it.
func TestAQuestionThatIsTakenBackBeforeItIsPutAgain(t *testing.T) {
	m := agreeing(t)
	drivers := func(c *runtime.Config) { c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: pays(`1`)}} }
	other := m.start(nil)
	if _, err := m.drive(other, pays(`1`)); err == nil {
		t.Fatal("it did not wait")
	}
	if err := other.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true}); err != nil {
		t.Fatal(err)
	}
	p := m.process(beforeAppend(3, func() { // 1 is the claim, 2 the grants, 3 the question
		if err := other.Answer(t.Context(), "r", "a", runtime.Answer{}); err != nil {
			t.Error(err)
		}
	})(m.mem.Handle()), drivers)
	opts := runtime.DriveOptions{}
	opts.Grants.HTTP = []string{"https://example.com"}
	if _, err := p.Drive(t.Context(), "r", opts); err == nil {
		t.Fatal("it went on")
	}
	work(t, p) // whatever is left to do
	if m.status() != journal.Failed || m.world.total() != 0 {
		t.Errorf("status %s, log %v", m.status(), m.log())
	}
}

// The time for an answer has run out, and somebody said no just before that was written. The log has their answer, and what
// asked sees that one, now and whenever the run is gone on with.
func TestAnExpiryThatCameAfterAnAnswerIsNotSeen(t *testing.T) {
	m := newMachine(t, nil)
	now := time.Now()
	clock := func(c *runtime.Config) { c.Now = func() time.Time { return now } }
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := r.Approve(ctx, "ask", runtime.Question{Text: "Go on?", Within: time.Hour})
		var told *toolabi.Error
		if errors.As(err, &told) {
			return []byte(`"` + told.Message + `"`), nil
		}
		return nil, err
	}
	if _, err := m.drive(m.process(m.mem.Handle(), clock), driver); err == nil {
		t.Fatal("it did not wait")
	}
	other := m.start(nil)
	p := m.process(beforeAppend(2, func() { // 1 is the claim
		if err := other.Answer(t.Context(), "r", "ask", runtime.Answer{By: "ann"}); err != nil {
			t.Error(err)
		}
	})(m.mem.Handle()), clock)
	now = now.Add(2 * time.Hour)
	if res, err := m.drive(p, driver); err != nil || string(res.Output) != `"ann said no"` {
		t.Errorf("ended with %s, %v, log %v", res.Output, err, m.log())
	}
}

// While a look-up asks about an effect, its first owner learns that it was taken over before anything left, and says so. Then
// the look-up is cut off.
func TestALookupThatWasCutOffDoesNotKeepWhatNeverLeftFromBeingAttempted(t *testing.T) {
	m := looking(t, nil)
	m.cutOff(t, false)
	_, err := m.drive(m.start(func(s journaltest.Store) journaltest.Store { return journaltest.CrashAfter(s, 2) }), pay)
	if log := m.log(); !errors.Is(err, journal.ErrUnusable) || log[len(log)-1] != "intent s/1/1" {
		t.Fatalf("the crash shows as %v, log %v", err, log)
	}
	m.say(journal.Entry{Kind: journal.Record, Step: "s/1", Name: journal.RecordEvidence, Effect: journal.EffectNone})
	if _, err := m.drive(m.start(nil), pay); err != nil || m.world.count("pay 1") != 1 {
		t.Errorf("%v, %v, log %v", err, m.world.effects, m.log())
	}
}

// A look-up was cut off inside an effect, the run was closed, and somebody has said what became of the effect. Whatever is
// done on a copy of the log takes that as it is.
func TestACopyOfARunWithALookupThatWasCutOff(t *testing.T) {
	m := looking(t, nil)
	m.cutOff(t, true)
	intent := func(step journal.Step, name string, class toolabi.Class, cut journal.OnCut, body string) journal.Entry {
		return journal.Entry{
			Kind: journal.Intent, Step: step, Name: name, Class: uint8(class), OnCut: cut, Owner: "somebody", Key: "key", SendBy: 1,
			Request: journal.DigestOf([]byte(body)), Body: []byte(body),
		}
	}
	m.world.effects["pay 2"]++
	for _, e := range []journal.Entry{
		{Kind: journal.Claimed, Owner: "somebody"},
		intent("s/1/1", "m.read_pay", toolabi.Call, journal.Redo, `{}`),
		intent("b", "m.pay", toolabi.Call, journal.Redo, `2`), intent("b/1", toolabi.FuncHTTPSend, toolabi.Once, journal.Doubt, "pay 2"),
		{Kind: journal.Cancel}, {Kind: journal.Finished, Outcome: journal.Cancelled, Owner: "somebody"},
	} {
		m.say(e)
	}
	p := m.start(nil)
	if err := p.Resolve(t.Context(), "r", "s/1", runtime.Resolution{Happened: true, Reply: []byte("said"), By: "ann"}); err != nil {
		t.Fatal(err)
	}
	found, err := p.Reconcile(t.Context(), "r")
	if err != nil || len(found) != 1 || found[0].Step != "b/1" || !found[0].Settled {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A request may have been announced after the backup was made, under the same name, and still be on its way: "did not happen"
// has to wait for that too.
func TestAfterARestoreDidNotHappenHasToWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := looking(t, nil)
		m.cutOff(t, false)
		time.Sleep(time.Hour) // of the bubble's time: what the log knows of has settled long ago
		m.say(journal.Entry{Kind: journal.Restored, Time: time.Now().UnixNano()})
		p := m.start(nil)
		if err := p.Confirm(t.Context(), "r", "ann", ""); err != nil {
			t.Fatal(err)
		}
		var soon *runtime.TooSoonError
		if err := p.Resolve(t.Context(), "r", "s/1", runtime.Resolution{}); !errors.As(err, &soon) || time.Until(soon.Until) != 2*time.Minute {
			t.Errorf("at once: %v", err)
		}
		var w *runtime.WaitingError
		if _, err := m.drive(p, pay); !errors.As(err, &w) || m.world.count("pay 1") != 0 {
			t.Errorf("looked up at once: %v, %v", err, m.world.effects)
		}
		time.Sleep(2*time.Minute + 1)
		if _, err := m.drive(p, pay); err != nil || m.world.count("pay 1") != 1 {
			t.Errorf("looked up later: %v, %v", err, m.world.effects)
		}
	})
}

// What may be repeated is sent whenever it is resumed, also long after its first moment to send. Once its key is not remembered
// any more it is in doubt, and the last of these requests may still be on its way.
func TestWhatIsInDoubtSinceItsKeyExpiredHasToSettleFromThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"keyed_pay": func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"` }})
		h := m.mem.Handle()
		m.world.during = func(string) { h.Kill() }
		_, _ = m.drive(m.start(func(journaltest.Store) journaltest.Store { return h }), steps("keyed_pay"))
		m.world.during = nil
		time.Sleep(2 * time.Hour) // of the bubble's time; the key is remembered for one
		p := m.start(nil)
		var u *runtime.UncertainError
		if _, err := m.drive(p, steps("keyed_pay")); !errors.As(err, &u) {
			t.Fatalf("ended with %v", err)
		}
		var soon *runtime.TooSoonError
		if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{}); !errors.As(err, &soon) || time.Until(soon.Until) != 30*time.Second {
			t.Errorf("at once: %v", err)
		}
		time.Sleep(30 * time.Second)
		if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{}); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}
