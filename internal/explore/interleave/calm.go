package interleave

import (
	"testing/synctest"
	"time"
)

// maxDrives is how often the run may be driven, once nothing goes wrong any more, before it has to be finished. Each drive
// may find one thing that a person has to say, and a claim whose lease ends too soon.
const maxDrives = 16

// calm lets nothing go wrong any more. People answer everything, as they see it, and the run has to come to its end, and to
// the same end whoever asks.
func (t *trial) calm() {
	for _, p := range t.procs {
		p.asleep = false
	}
	t.limits.withdrawals, t.limits.abandons = 0, 0 // who has said something means it
	for range maxDrives {
		if !t.settle() {
			return
		}
		for range 4 {
			if !t.answerAll() {
				return
			}
		}
		if t.done() {
			break
		}
		time.Sleep(t.untilDue())
		t.mu.Lock()
		t.startDrive(t.calmWay)
		t.mu.Unlock()
	}
	if !t.done() {
		t.mu.Lock()
		t.violate("LIVENESS", "after %d drives without a fault it is %s; the last one said: %v", maxDrives, t.store.log.state.Status(), t.lastErr)
		t.mu.Unlock()
		return
	}
	length := t.store.log.state.Len
	for range 2 { // whoever asks again is told the same
		t.mu.Lock()
		t.startDrive(func() way { return directly })
		t.mu.Unlock()
		if !t.settle() {
			return
		}
	}
	if now := t.store.log.state.Len; now != length {
		t.mu.Lock()
		t.violate("OTHER-END", "driving a finished run has changed its log from %d to %d entries", length, now)
		t.mu.Unlock()
	}
}

// untilDue is how long it takes until the run can be driven: longer than any claim, and until its time has come.
func (t *trial) untilDue() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := time.Minute
	if due := t.store.log.state.Due; due != 0 {
		d = max(d, time.Until(time.Unix(0, due)))
	}
	return d
}

// done says whether the run is finished and nobody is asked for anything.
func (t *trial) done() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.store.log.state.Finished && len(t.questions()) == 0
}

// settle lets everything that is under way come to its end.
func (t *trial) settle() bool {
	for range 5000 {
		synctest.Wait()
		t.mu.Lock()
		if t.violation != nil {
			t.mu.Unlock()
			return false
		}
		moved := t.goOn() || t.network()
		tasks := t.tasks
		t.mu.Unlock()
		switch {
		case moved:
		case tasks == 0:
			return true
		default:
			time.Sleep(time.Second)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.violate("STUCK", "%d drives do not end", t.tasks)
	return false
}

// answerAll lets people answer what is asked now. Where it is too soon to say, they come back later.
func (t *trial) answerAll() bool {
	t.mu.Lock()
	answered := t.answer()
	t.mu.Unlock()
	if answered {
		time.Sleep(time.Minute)
	}
	return t.settle()
}
