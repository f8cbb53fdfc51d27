package crashtest

import (
	"context"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// PaidTwice are the idempotency keys of the answers of which the books of an agent's run say that they may have been paid for twice.
func PaidTwice(ctx context.Context, e *runtime.Engine, s interface {
	journal.Journal
	journal.Blobs
}) (keys []string, err error) {
	spec, err := e.Spec(ctx, Run)
	if err != nil {
		return nil, err
	}
	of, err := agent.Unpin(spec.Plan)
	if err != nil {
		return nil, err
	}
	books := agent.NewBookkeeper(Run, of, func(ctx context.Context, e journal.Entry) ([]byte, error) { return journal.Body(ctx, s, e) })
	for e, err := range s.Read(ctx, Run, 0) {
		if err != nil {
			return nil, err
		}
		if err := books.Add(ctx, e); err != nil {
			return nil, err
		}
	}
	for _, u := range books.Close(false).Twice {
		keys = append(keys, u.Key)
	}
	return keys, nil
}
