package interleave

import (
	"fmt"
	"slices"
	"time"
)

// move lets one thing happen.
func (t *trial) move() {
	t.mu.Lock()
	t.steps++
	after := t.anything()
	t.mu.Unlock()
	if after != nil {
		after()
	}
}

// anything chooses among all that can happen now. What takes time is returned, to be done without mu.
func (t *trial) anything() func() {
	r := t.c.draw(100)
	switch {
	case r < 62:
	case r < 74:
		if t.network() {
			return nil
		}
	case r < 82:
		return t.passTime()
	case r < 87:
		if t.startDrive(t.anyWay) {
			return nil
		}
	case r < 91:
		if t.answer() {
			return nil
		}
	default:
		if t.fault(r) {
			return nil
		}
	}
	if t.goOn() || t.network() {
		return nil
	}
	switch t.c.draw(3) { // everybody is idle
	case 1:
		if t.startDrive(t.anyWay) {
			return nil
		}
	case 2:
		if t.answer() {
			return nil
		}
	}
	return t.passTime()
}

// goOn lets a process go on, perhaps into a fault.
func (t *trial) goOn() bool {
	ws := t.runnable()
	if len(ws) == 0 {
		return false
	}
	w := ws[t.c.draw(len(ws))]
	v := t.faultOf(w)
	t.noteMove(w, v)
	t.release(w, v)
	return true
}

// faultOf chooses what goes wrong with what a process is about to do.
func (t *trial) faultOf(w *waiter) verdict {
	if w.p.isPerson {
		return goOn
	}
	switch {
	case w.at == atAppend && t.limits.errors > 0 && t.c.chance(4):
		v := [...]verdict{busy, full, failed}[t.c.draw(3)]
		t.limits.errors--
		return v
	case w.at == atAppended && t.limits.errors > 0 && t.c.chance(4):
		t.limits.errors--
		return failed
	case w.at == atFetch && t.limits.breaks > 0 && t.c.chance(20):
		t.limits.breaks--
		return [...]verdict{vague, refused}[t.c.draw(2)]
	case w.at == atSend && t.limits.breaks > 0 && t.c.chance(15):
		t.limits.breaks--
		return refused
	}
	return goOn
}

// network lets something happen to a request that was sent.
func (t *trial) network() bool {
	now := time.Now()
	t.world.net = slices.DeleteFunc(t.world.net, func(m *message) bool { return !m.waits && (m.acted || now.After(m.expires)) })
	if len(t.world.net) == 0 {
		return false
	}
	m := t.world.net[t.c.draw(len(t.world.net))]
	reachable := m.waits && !m.p.asleep && t.holds(m.p) == nil
	overdue := now.After(m.sent.Add(sendTimeout))
	switch {
	case reachable && (overdue || t.limits.breaks > 0 && t.c.chance(12)):
		if !overdue {
			t.limits.breaks--
		}
		t.answerSender(m, broken)
	case !m.acted && now.After(m.expires):
		return false
	case !m.acted && t.limits.breaks > 0 && t.c.chance(6): // it never arrives
		t.limits.breaks--
		t.note("lost on its way: " + m.request)
		m.expires = now.Add(-1)
	case !m.acted:
		t.world.act(m, now)
		if t.traced {
			t.note(fmt.Sprintf("the provider gets %s of %s under %s: %s", m.request, m.step, m.key, m.reply))
		}
	case reachable:
		v := replied
		if t.limits.breaks > 0 && t.c.chance(6) {
			t.limits.breaks--
			v = illegible
		}
		t.answerSender(m, v)
	default:
		return false
	}
	return true
}

// answerSender ends the wait of the process that sent a request.
func (t *trial) answerSender(m *message, v verdict) {
	i := slices.IndexFunc(t.waiters, func(w *waiter) bool { return w.msg == m })
	w := t.waiters[i]
	t.noteMove(w, v)
	if v == replied {
		t.world.replied = append(t.world.replied, m)
	}
	if m.acted {
		t.world.drop(m)
	}
	t.release(w, v)
}

var spans = [...]time.Duration{time.Millisecond, 4 * time.Millisecond, 3 * time.Second, 9 * time.Second, 16 * time.Second, 31 * time.Second, 41 * time.Second, 100 * time.Second, 10 * time.Minute}

// passTime lets time pass, if nobody is where it must not.
func (t *trial) passTime() func() {
	if t.held() {
		t.goOn()
		return nil
	}
	d := spans[t.c.draw(len(spans))]
	t.note("time passes: " + d.String())
	return func() { time.Sleep(d) }
}

// startDrive lets an idle process drive the run, in a new life if it has ended.
func (t *trial) startDrive(how func() way) bool {
	i := t.c.draw(len(t.procs))
	for range t.procs {
		p := t.procs[i]
		if p.dead {
			p = t.life(i)
			t.procs[i] = p
		}
		if !p.driving {
			t.drive(p, how())
			return true
		}
		i = (i + 1) % len(t.procs)
	}
	return false
}

// answer lets a person answer something.
func (t *trial) answer() bool {
	qs := t.questions()
	p := t.idle()
	if p == nil || len(qs) == 0 {
		return false
	}
	q := qs[t.c.draw(len(qs))]
	t.say(p, q)
	return true
}

// fault lets something go wrong, if any may.
func (t *trial) fault(r int) bool {
	p := t.procs[t.c.draw(len(t.procs))]
	l := &t.limits
	switch {
	case r < 94 && l.kills > 0 && !p.dead:
		l.kills--
		t.note(p.name + " is killed")
		t.end(p)
	case r < 96 && l.stops > 0 && !p.dead:
		if p.asleep = !p.asleep; !p.asleep {
			l.stops--
		}
		t.note(fmt.Sprintf("%s stands still: %v", p.name, p.asleep))
	case r < 97 && l.interrupts > 0 && p.driving && !p.dead && t.holds(p) == nil:
		l.interrupts--
		t.note(p.name + " is interrupted")
		p.stopped = true
		p.cancel()
	case r < 98 && t.idle() != nil && t.store.log.state.Len > 0 && !t.store.log.state.Finished:
		return t.giveUp()
	case r >= 98 && l.restores > 0:
		return t.restoreOrBackup()
	default:
		return false
	}
	return true
}

// restoreOrBackup takes a backup, and later, when every process has ended, puts it back.
func (t *trial) restoreOrBackup() bool {
	switch {
	case t.store.backup == nil && t.store.log.state.Len > 0:
		t.note("a backup is taken")
		t.store.backup = t.store.log.clone()
	case t.store.backup != nil && !t.spoken():
		t.note("everybody ends, and the backup is restored")
		t.limits.restores--
		for _, p := range t.procs {
			t.end(p)
		}
		t.restore()
	default:
		return false
	}
	return true
}
