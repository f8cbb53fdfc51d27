package interleave

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/runtime"
)

// way is how a process takes part in a run.
type way uint8

const (
	directly way = iota // it begins the run if it is not there, and drives it
	working             // it drives what can go on by itself
	awaiting            // it waits until something can, and drives it
	asking              // it asks what became of effects in doubt, and drives nothing
)

var wayNames = [...]string{"drives", "works", "awaits, and works", "looks up what is in doubt"}

// awaitTime is how long a process waits for a run. It ends between two looks, so that it is clear which comes first.
const awaitTime = 3*time.Second + 50*time.Millisecond

var errDeadline = errors.New("it has waited long enough")

// drive lets a process take part in the run. The caller holds mu.
func (t *trial) drive(p *process, by way) {
	t.note(p.name + " " + wayNames[by])
	ctx, cancel := context.WithCancel(context.Background())
	p.driving, p.stopped, p.cancel = true, false, cancel
	t.tasks++
	t.drives++
	opts := t.options(p)
	go func() {
		defer cancel()
		err := t.takePart(ctx, p, by, opts)
		t.mu.Lock()
		defer t.mu.Unlock()
		p.driving = false
		t.tasks--
		if p.dead {
			return
		}
		if !t.expected(p, err) {
			t.violate("DRIVE", "%s %s: %v", p.name, wayNames[by], err)
		}
		t.checkReplies(p)
		if p.spoiled {
			t.end(p)
		}
	}()
}

// options draws what a drive adds to the run. The caller holds mu.
func (t *trial) options(p *process) runtime.DriveOptions {
	opts := runtime.DriveOptions{Driver: t.driver(p), By: "ann"}
	if t.c.chance(30) {
		opts.ApproveBy = time.Now().Add(answerTime)
	}
	if t.limits.grants > 0 && t.c.chance(30) {
		t.limits.grants--
		t.grants++
		opts.Grants = hostfuncs.Grants{HTTP: []string{fmt.Sprintf("https://more%d.example", t.grants)}}
	}
	return opts
}

func (t *trial) takePart(ctx context.Context, p *process, by way, opts runtime.DriveOptions) error {
	switch by {
	case asking:
		_, err := p.engine.Reconcile(ctx, runID)
		return err
	case awaiting:
		waiting, cancel := context.WithTimeoutCause(ctx, awaitTime, errDeadline)
		defer cancel()
		if err := p.engine.Await(waiting, runID); err != nil && !errors.Is(err, errDeadline) {
			return err
		}
	}
	if by != directly {
		return p.engine.Work(ctx, func(_ string, res runtime.Result, err error) bool {
			t.driven(p, res, err)
			return true
		})
	}
	spec, modules := t.scenario.spec()
	if _, err := p.engine.Start(ctx, runID, spec, modules, true); err != nil {
		return err
	}
	res, err := p.engine.Drive(ctx, runID, opts)
	t.driven(p, res, err)
	return nil
}

func (t *trial) driver(p *process) *runtime.DriverInfo {
	return &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return t.scenario.drive(&drive{t: t, p: p, ctx: ctx, run: r})
	}}
}

// anyWay draws how a process takes part. The caller holds mu.
func (t *trial) anyWay() way {
	if t.store.log.state.Len == 0 {
		return directly
	}
	return [...]way{directly, directly, directly, directly, working, awaiting, asking}[t.c.draw(7)]
}

// calmWay is how a process takes part when nothing goes wrong any more. Nobody drives by itself what keeps crashing.
func (t *trial) calmWay() way {
	if s := t.store.log.state; !t.byWork || s.Len == 0 || s.Crashes >= 3 || s.Finished {
		return directly
	}
	return awaiting
}
