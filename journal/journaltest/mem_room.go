package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wrun-dev/wrun/journal"
)

// SetRoom says how many bytes the journal may still take, through all handles: entries and blobs. Until it is called there is no
// end to them.
func (m *Mem) SetRoom(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limited, m.left = true, n
}

// Held returns how many bytes are held for outcomes.
func (m *Mem) Held() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// Reserve holds n bytes; see journal.Room.
func (m *Mem) Reserve(ctx context.Context, n int64) (use, drop func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(ctx.Err(), m.closed); err != nil {
		return nil, nil, err
	}
	switch {
	case n < 0:
		return nil, nil, fmt.Errorf("hold %d bytes: less than nothing", n)
	case m.limited && n > m.left-m.held, !m.limited && n > 1<<50: // as any disk
		return nil, nil, fmt.Errorf("hold %d bytes: %w", n, journal.ErrNoSpace)
	}
	m.held, m.holds = m.held+n, m.holds+n
	var once sync.Once
	end := func() {
		once.Do(func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.closed == nil { // else it was given back
				m.held, m.holds = m.held-n, m.holds-n
			}
		})
	}
	return end, end, nil
}

// take counts what an append writes. What begins something does not get what is held for outcomes. Called with mu held.
func (m *Mem) take(x *journal.Extension) error {
	n, free := int64(0), m.left
	for i, e := range x.Entries {
		n += int64(len(x.Records[i]))
		if e.Kind == journal.Created || e.Kind == journal.Claimed || e.Kind == journal.Intent {
			free = m.left - m.held
		}
	}
	return m.takeOf(n, free)
}

func (m *Mem) takeOf(n, free int64) error {
	if m.limited && n > free {
		return fmt.Errorf("%w: %d bytes are left, %d are needed", journal.ErrNoSpace, free, n)
	}
	m.left -= n
	return nil
}

// Size returns how many bytes the entries and blobs of all runs have.
func (m *Mem) Size(ctx context.Context) (n int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(ctx.Err(), m.closed); err != nil {
		return 0, err
	}
	for _, l := range m.logs {
		for _, r := range l.records {
			n += int64(len(r))
		}
	}
	for _, b := range m.blobs {
		n += int64(len(b))
	}
	return n, nil
}
