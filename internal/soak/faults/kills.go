package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// moods are how the oracle may treat the requests of a trial: it answers, drops the connection after the effect, answers late,
// or answers twice.
var moods = []ledger.Behaviour{{}, {}, {Drop: 1}, {DelayMS: 5}, {Twice: -1}}

// kills kills processes at random instants. Each trial has a journal for itself at first, in its directory, and goes on until
// its run has an end or has died often enough. Every process that was killed counts.
func (t *tier) kills(ctx context.Context, row *Row) error {
	return t.each(ctx, row, t.number(3000, 30_000), func(ctx context.Context, b *bench, i int, r *rand.Rand) error {
		if err := b.oracle.behave(ctx, moods[r.IntN(len(moods))]); err != nil {
			return err
		}
		dir := filepath.Join(b.dir, fmt.Sprint("trial-", i/20)) // a journal for a few trials one after the other
		x := b.trial(KindKill, filepath.Join(dir, "journal.db"), "mixed", fmt.Sprintf("k%d", i))
		deaths := 0
		for range 1 + r.IntN(3) {
			exit, err := x.do(ctx, 1+time.Duration(r.Int64N(int64(b.whole*5/4))), nil, x.next()...)
			if err != nil {
				return err
			}
			if !exit.Killed() {
				break
			}
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
