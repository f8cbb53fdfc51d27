package runtime

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/journal"
)

// get reads a key of a tool's state.
func (s *holding) get(ctx context.Context, space, key string) ([]byte, uint64, bool, error) {
	if s.run.engine.kv == nil {
		return nil, 0, false, errNoState
	}
	value, version, err := s.run.engine.kv.Get(ctx, space, key)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, version, false, nil
	}
	if err != nil {
		return nil, 0, false, s.fail(ctx, err)
	}
	return value, version, true, nil
}

// stage changes a key. What is staged is applied in the transaction of the entry that records the function's outcome, before
// the tool is answered, so that a tool reads its own writes.
func (s *holding) stage(space, key string, value []byte, remove bool, expect uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, journal.Write{Space: space, Key: key, Value: value, Delete: remove, Expect: expect})
}

var errNoState = errors.New("this journal keeps no state of tools")
