package runtime

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/journal"
)

// state gives a host function the state of tools: a way to read a key, and a way to stage writes. What is staged is
// applied in the transaction of the entry that records the function's outcome, before the tool is answered, so that a
// tool reads its own writes.
func (r *Run) state(ctx context.Context, writes *[]journal.Write) (
	get func(space, key string) (value []byte, version uint64, found bool, err error),
	stage func(space, key string, value []byte, remove bool, expect uint64),
) {
	get = func(space, key string) ([]byte, uint64, bool, error) {
		if r.engine.kv == nil {
			return nil, 0, false, errors.New("this journal keeps no state of tools")
		}
		value, version, err := r.engine.kv.Get(ctx, space, key)
		if errors.Is(err, journal.ErrNotFound) {
			return nil, 0, false, nil
		}
		return value, version, err == nil, err
	}
	stage = func(space, key string, value []byte, remove bool, expect uint64) {
		*writes = append(*writes, journal.Write{Space: space, Key: key, Value: value, Delete: remove, Expect: expect})
	}
	return get, stage
}
