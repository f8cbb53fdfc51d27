package agent

import (
	"math"
	"strconv"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/runtime"
)

// spent is what the answers took so far.
type spent struct {
	tokens, cost int64
}

func (s *spent) add(p *Prices, u model.Usage) {
	s.tokens, s.cost = sum(s.tokens, u.Total()), sum(s.cost, p.Of(u))
}

// sum adds what is not negative. More than can be counted stays as much as can: it is over every limit.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// afford says why the model must not be asked another time: a limit is reached. What is in the log already is not judged, so a
// limit never stands between a run and what it did.
func (l *loop) afford(turn int) error {
	limits, more := l.agent.Limits, l.r.Budget()
	over := func(what string, used, limit int64, show func(int64) string) error {
		if limit == 0 || used < limit {
			return nil
		}
		return &runtime.BudgetError{Run: l.r.ID(), What: what, Used: show(used), Limit: show(limit)}
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	span := func(n int64) string {
		d := time.Duration(n)
		return d.Round(min(time.Second/10, max(time.Millisecond, (d/100).Round(time.Millisecond)))).String()
	}
	for _, err := range []error{
		over("steps", int64(turn), or(more.Steps, or(limits.Steps, DefaultSteps)), count),
		over("tokens", l.spent.tokens, or(more.Tokens, limits.Tokens), count),
		over("cost", l.spent.cost, or(more.Cost, limits.Cost), FormatAmount),
		over("time", int64(l.r.Spent()), int64(or(more.Time, time.Duration(limits.TimeMS)*time.Millisecond)), span),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}
