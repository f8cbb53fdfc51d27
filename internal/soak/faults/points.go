package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/internal/ledger"
)

// actions are what happens at a point: hang is followed by a kill.
var actions = []string{"kill", "error", "hang"}

// point is one trial at a crash point.
type point struct {
	name, action, plan string
	nth                int
}

// points are all of them: every place with every action in every class of steps, when it is come by first, and later.
func points() (all []point) {
	for _, name := range failpoint.Names {
		for _, action := range actions {
			for _, plan := range []string{classOnce, classKeyed, classRead, classKeep} {
				for _, nth := range []int{1, 2, 4} {
					all = append(all, point{name, action, plan, nth})
				}
			}
		}
	}
	return all
}

// onlyOnce are the places that not every class of steps comes by, or not each time.
var onlyOnce = []string{failpoint.BeforeIntent, failpoint.AfterIntent, failpoint.BeforeSend, failpoint.BeforeResult, failpoint.AfterResult, failpoint.BeforeRelease}

// somePoints is a part of them: every place with every action, in one class each.
func somePoints() (some []point) {
	for i, name := range failpoint.Names {
		for j, action := range actions {
			p := point{name, action, []string{classOnce, classKeyed, classRead, classKeep}[(i+j)%4], 1}
			if slices.Contains(onlyOnce, name) {
				p.plan = classOnce
			}
			some = append(some, p)
		}
	}
	return some
}

// crashPoints visits every place where wrun can be made to die, fail or hang. It has a build of its own.
func (t *tier) crashPoints(ctx context.Context, row *Row) error {
	all := points()
	if t.Share < 1 {
		all = somePoints()
	}
	return t.visit(ctx, row, all)
}

func (t *tier) visit(ctx context.Context, row *Row, all []point) error {
	plain := t.programs
	defer func() { t.programs = plain }()
	var err error
	if t.programs, err = MakePrograms(ctx, filepath.Join(t.Dir, "programs-failpoints"), "wrun_failpoints "+t.Tags); err != nil {
		return err
	}
	var mu sync.Mutex
	reached := map[string]bool{}
	err = t.each(ctx, row, func(i int) bool { return i >= len(all) }, func(ctx context.Context, b *bench, i int, _ *rand.Rand) error {
		landed, err := b.point(ctx, row, i, all[i])
		if landed {
			mu.Lock()
			reached[all[i].name+" "+all[i].action] = true
			mu.Unlock()
		}
		if err != nil {
			err = fmt.Errorf("%+v: %w", all[i], err)
		}
		return err
	})
	for _, p := range all {
		if key := p.name + " " + p.action; err == nil && !reached[key] && len(row.Found) < maxFound {
			reached[key] = true
			row.Found = append(row.Found, "no trial has come by "+key)
		}
	}
	return err
}

// point makes a trial at one of them.
func (b *bench) point(ctx context.Context, row *Row, i int, p point) (landed bool, err error) {
	mood := ledger.Behaviour{}
	if p.name == failpoint.BeforeRelease { // which only a run comes by that has to stop
		mood.Drop = -1
	}
	if err := b.oracle.behave(ctx, mood); err != nil {
		return false, err
	}
	dir := filepath.Join(b.dir, fmt.Sprint("point-", i))
	mark := filepath.Join(b.dir, "mark")
	if err := os.RemoveAll(mark); err != nil {
		return false, err
	}
	t := b.trial(kindPoint, filepath.Join(dir, "journal.db"), p.plan, fmt.Sprint("p", i))
	t.more = []string{fmt.Sprintf("WRUN_FAIL=%s:%s:%d", p.name, p.action, p.nth), "WRUN_FAIL_MARK=" + mark}
	var when chan struct{}
	over := make(chan struct{})
	var watching sync.WaitGroup
	if p.action == "hang" {
		when = make(chan struct{})
		watching.Go(func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-over:
					return
				case <-tick.C:
					if exists(mark) {
						close(when)
						return
					}
				}
			}
		})
	}
	exit, err := t.do(ctx, 0, when, t.begin()...)
	close(over)
	watching.Wait()
	if err != nil {
		return false, err
	}
	landed = exists(mark)
	if p.action == "error" && landed && exit.Code == exitOK && !slices.Contains([]string{failpoint.MidHostCall, failpoint.AfterHostCall}, p.name) {
		return landed, fmt.Errorf("it failed, and the exit code is 0")
	}
	t.more = nil
	if err := b.oracle.behave(ctx, ledger.Behaviour{}); err != nil {
		return landed, err
	}
	n := 0
	if landed {
		n = 1
	}
	if err := t.done(ctx, row, fmt.Sprintf("%+v", p), n); err != nil {
		return landed, err
	}
	return landed, os.RemoveAll(dir)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
