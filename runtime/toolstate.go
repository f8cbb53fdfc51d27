package runtime

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
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

// maxScan is how long the keys and values of one scan are together, in bytes, when it has more than one.
const maxScan = 1 << 20

// scan reads keys of a tool's state. Keys that others change meanwhile come as they are when their turn comes.
func (s *holding) scan(ctx context.Context, space, prefix, after string, limit int) (items []hostfuncs.Item, more bool, err error) {
	if s.run.engine.kv == nil {
		return nil, false, errNoState
	}
	size := 0
	for item, err := range s.run.engine.kv.Scan(ctx, space, prefix, after) {
		if err != nil {
			return nil, false, s.fail(ctx, err)
		}
		size += len(item.Key) + len(item.Value)
		if len(items) == limit || len(items) > 0 && size > maxScan {
			return items, true, nil
		}
		items = append(items, hostfuncs.Item{Key: item.Key, Value: item.Value, Version: item.Version})
	}
	return items, false, nil
}

// stage changes a key. What is staged is applied in the transaction of the entry that records the function's outcome, before
// the tool is answered, so that a tool reads its own writes.
func (s *holding) stage(space, key string, value []byte, remove bool, expect uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, journal.Write{Space: space, Key: key, Value: value, Delete: remove, Expect: expect})
}

var errNoState = toolabi.NewError(toolabi.Unsupported, "this journal keeps no state of tools")
