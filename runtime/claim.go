package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/journal"
)

// me returns this process's id. It is registered before the first claim is appended, and a process that never claims
// leaves no trace.
func (e *Engine) me() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.owner == "" {
		owner, err := e.owners.Owner()
		if err != nil {
			return "", fmt.Errorf("register as the owner of a run: %w", err)
		}
		e.owner = owner
	}
	return e.owner, nil
}

// claim returns the entry with which this engine takes a run. Where the journal can tell who lives, the claim lasts as
// long as the process; elsewhere it is a lease.
func (e *Engine) claim(now int64) (journal.Entry, error) {
	me, err := e.me()
	c := journal.Entry{Kind: journal.Claimed, Owner: me, Time: now}
	if e.owners == nil {
		c.Lease = now + int64(e.cfg.Lease)
	}
	return c, err
}

// mayClaim says why a run with this state may not be claimed now, or nil. With force an owner of whom nothing is known
// counts as dead.
func (e *Engine) mayClaim(s *journal.State, force bool) error {
	if s.Owner == "" || e.isMe(s.Owner) {
		return nil
	}
	busy := &BusyError{Run: s.Run, Owner: s.Owner}
	if e.owners != nil {
		busy.Who = e.owners.Describe(s.Owner)
		live, err := e.owners.Liveness(s.Owner)
		switch {
		case err != nil:
			return &JournalError{Run: s.Run, Err: err}
		case live == journal.Dead:
			return nil
		case live == journal.Alive:
			return busy
		}
	}
	if s.Lease != 0 {
		busy.Until = time.Unix(0, s.Lease)
		if e.cfg.Now().UnixNano() > s.Lease {
			return nil
		}
	}
	if force {
		return nil
	}
	busy.Unknown = true
	return busy
}

func (e *Engine) isMe(owner string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return owner != "" && owner == e.owner
}

// ownerLives says whether the process that claimed a run lives, as far as that can be told.
func (e *Engine) ownerLives(s *journal.State) bool {
	if s.Owner == "" {
		return false
	}
	if e.owners == nil {
		return e.cfg.Now().UnixNano() <= s.Lease
	}
	live, err := e.owners.Liveness(s.Owner)
	return err != nil || live != journal.Dead
}

// Status returns a run's status with what is known of its owner: a claimed run whose owner has died is interrupted, or
// uncertain when it left an effect in doubt.
func (e *Engine) Status(s *journal.State) journal.Status {
	if st := s.Status(); st != journal.Running || e.ownerLives(s) {
		return st
	}
	unowned := *s
	unowned.Owner = ""
	return unowned.Status()
}

// take claims a run, unless its first commit already did, and returns the log with the claim. Who is slower than
// another process judges again. A run that was finished meanwhile is returned as it is.
func (e *Engine) take(ctx context.Context, l *loaded, force bool) (*loaded, error) {
	if e.isMe(l.state.Owner) && l.state.Len == 2+uint64(len(l.state.Labels)) { // created, claimed and labels
		if err := failpoint.Hit(failpoint.AfterAcquire); err != nil {
			return nil, &hostError{err}
		}
		return l, nil
	}
	for {
		if l.state.Finished {
			return l, nil
		}
		if err := e.mayClaim(l.state, force); err != nil {
			return nil, err
		}
		claim, err := e.claim(e.cfg.Now().UnixNano())
		if err != nil {
			return nil, err
		}
		err = e.extend(ctx, l.state, claim)
		if err != nil && !errors.Is(err, journal.ErrConflict) {
			return nil, err
		}
		claimed := err == nil
		if claimed {
			ctx = context.WithoutCancel(ctx) // what is claimed is driven, or released
		}
		if err = e.loadMore(ctx, l); err != nil { // a long log takes its time, and is append-only
			return nil, err
		}
		if claimed && e.isMe(l.state.Owner) {
			if err := failpoint.Hit(failpoint.AfterAcquire); err != nil {
				return nil, &hostError{err}
			}
			return l, nil
		}
		// Else the log has moved, or another process has taken the run since: its lease may be that short.
	}
}

// release gives a run back that this engine still owns after driving it ended with an error. Where even that cannot be
// written, the run is free when the process ends.
func (e *Engine) release(run string, why error) {
	if errors.Is(why, journal.ErrDamaged) || errors.Is(why, journal.ErrUnusable) {
		return // nothing more is written
	}
	if failpoint.Hit(failpoint.BeforeRelease) != nil {
		return
	}
	ctx := context.Background()
	_ = patiently(func() error {
		return untilSettled(func() error {
			s, err := e.state(ctx, run)
			if err != nil || s.Finished || !e.isMe(s.Owner) {
				return err
			}
			return e.extend(ctx, s, journal.Entry{Kind: journal.Released, Owner: s.Owner, Name: stopName(why), Note: text(why, maxNote), Due: dueOf(why)})
		})
	})
}

// begin lets one goroutine of this engine at a time act for a run.
func (e *Engine) begin(run string) (end func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.driving[run] {
		return nil, &BusyError{Run: run, Who: "this very process"}
	}
	e.driving[run] = true
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.driving, run)
	}, nil
}
