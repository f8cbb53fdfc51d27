package faults

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/agents"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// moods are how the oracle may treat the requests of a trial: it answers, drops the connection after the effect, answers late,
// or answers twice.
var moods = []ledger.Behaviour{{}, {}, {Drop: 1}, {DelayMS: 5}, {Twice: -1}}

// planKills lets package trials kill the processes of long plans of payments, several at once on one journal.
func (t *tier) planKills(ctx context.Context, row *Row) error {
	dir, tool, err := t.place(ctx, "plans-")
	if err != nil {
		return err
	}
	report, err := trials.Run(ctx, trials.Config{
		Kills: t.number(4000, 40_000), Seed: t.Seed, Wrun: t.programs.Wrun, Tool: tool, Dir: dir, Cache: t.cache, Workers: t.Workers, Seen: row.seen,
		Progress: nth(t.Progress, 20),
	})
	row.Trials, row.Landed, row.Effects = report.Trials, report.Kills, report.Charges
	row.Repeated, row.Lost = report.Repeated+report.Silent, report.Lost+report.Missing
	if err == nil {
		err = row.take(report.Err(), dir)
	}
	return err
}

// agentKills does the same with agents.
func (t *tier) agentKills(ctx context.Context, row *Row) error {
	dir, tool, err := t.place(ctx, "agents-")
	if err != nil {
		return err
	}
	report, err := agents.Run(ctx, agents.Config{
		Kills: t.number(1000, 10_000), Seed: t.Seed, Wrun: t.programs.Wrun, Tool: tool, Dir: dir, Cache: t.cache, Seen: row.seen, Progress: nth(t.Progress, 20),
	})
	row.Trials, row.Landed, row.Effects = report.Trials, report.Kills, report.Bills
	row.Repeated, row.Lost, row.Wrong = report.Repeated, report.Lost+report.Missing, report.Hidden
	if err == nil {
		err = row.take(report.Err(), dir)
	}
	return err
}

// place makes a directory for trials of others, with the payments tool.
func (t *tier) place(ctx context.Context, name string) (dir, tool string, err error) {
	if dir, err = os.MkdirTemp(t.Fast, name); err != nil {
		return "", "", err
	}
	tool, err = trials.Tool(ctx, t.programs.Wrun, "payments", t.Dir)
	return dir, tool, err
}

// take ends a way that others have taken.
func (r *Row) take(err error, dir string) error {
	if err != nil {
		r.Found = append(r.Found, err.Error())
		return nil
	}
	return os.RemoveAll(dir)
}

// seen looks at what a process said that others have started.
func (r *Row) seen(exit trials.Exit) {
	l := left{exits: []said{{verb: "a process", exit: exit}}}
	for _, what := range l.noStack() {
		r.mu.Lock()
		r.Found = append(r.Found, Violation{"I8", what}.String())
		r.mu.Unlock()
	}
}

// nth lets each nth line through.
func nth(to io.Writer, n int) io.Writer {
	if to == nil {
		return nil
	}
	return &sieve{to: to, n: n}
}

// sieve is what nth returns. It may be used concurrently.
type sieve struct {
	to    io.Writer
	n     int
	lines atomic.Int64
}

func (s *sieve) Write(b []byte) (int, error) {
	if s.lines.Add(1)%int64(s.n) != 0 {
		return len(b), nil
	}
	return s.to.Write(b)
}

// kills kills processes at random instants. Each trial has a journal for itself at first, in its directory, and goes on until
// its run has an end or has died often enough. Every process that was killed counts.
func (t *tier) kills(ctx context.Context, row *Row) error {
	n := t.number(5000, 50_000)
	return t.each(ctx, row, func(int) bool { return row.cut(n) }, func(ctx context.Context, b *bench, i int, r *rand.Rand) error {
		if err := b.oracle.behave(ctx, moods[r.IntN(len(moods))]); err != nil {
			return err
		}
		dir := filepath.Join(b.dir, fmt.Sprint("trial-", i/20)) // a journal for a few trials one after the other
		x := b.trial(kindKill, filepath.Join(dir, "journal.db"), "mixed", fmt.Sprintf("k%d", i))
		deaths := 0
		for range 1 + r.IntN(3) {
			exit, err := x.do(ctx, 1+time.Duration(r.Int64N(int64(b.whole))), nil, x.next()...)
			if err != nil {
				return err
			}
			if !exit.Killed() { // the machine has become quicker
				b.whole = b.whole * 9 / 10
				break
			}
			b.whole = b.whole * 26 / 25
			deaths++
		}
		if err := x.done(ctx, row, x.run, deaths); err != nil {
			return err
		}
		if i%20 == 19 {
			return os.RemoveAll(dir)
		}
		return nil
	})
}
