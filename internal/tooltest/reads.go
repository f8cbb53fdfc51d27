package tooltest

import (
	"context"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// reading remembers what the world saw of each use of http_fetch.
func (s *Stage) reading(fetch func(context.Context, hostfuncs.Call, []byte) ([]byte, error)) func(context.Context, hostfuncs.Call, []byte) ([]byte, error) {
	return func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
		from := s.Live.Mark()
		reply, err := fetch(ctx, c, req)
		if err == nil {
			s.mu.Lock()
			s.reads = append(s.reads, [2]int{from, s.Live.Mark()})
			s.mu.Unlock()
		}
		return reply, err
	}
}

// unread gives back to the world what was read and not written down when a process died, so that the next one reads the same. The
// first ones are written down, since they are written in order.
func (s *Stage) unread(written int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.reads) > written {
		last := s.reads[len(s.reads)-1]
		s.Live.Unread(last[0], last[1])
		s.reads = s.reads[:len(s.reads)-1]
	}
}
