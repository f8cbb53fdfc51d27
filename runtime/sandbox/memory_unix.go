//go:build unix

package sandbox

import (
	"errors"

	"golang.org/x/sys/unix"
)

func newRegion(limit uint64) (region, error) { return newMapped(limit) }

// mapped is a region of address space as large as the memory may become, of which the part in use can be touched. Growing
// does not copy it, pages that were never touched cost nothing, and all of it goes back to the system at once. Go's
// collector does not know of it: what points into it keeps nothing alive.
type mapped struct {
	all   []byte
	ready uint64 // bytes that can be read and written
}

// newMapped reserves addresses. Memory that cannot be touched is not counted against the system's, so that the reservation
// fails only where addresses are bounded; first asks for memory, and is told in order when there is none.
func newMapped(limit uint64) (region, error) {
	if limit > maxInt {
		return nil, errors.New("that is more than this processor can address")
	}
	m := &mapped{}
	if limit == 0 {
		return m, nil
	}
	var err error
	m.all, err = unix.Mmap(-1, 0, int(limit), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return m, err
}

// commitStep is how much is made usable at a time, in bytes: a guest that grows page by page pays for few system calls.
const commitStep = 1 << 20

func (m *mapped) first(size uint64) ([]byte, error) {
	if size > m.ready {
		ready := min((size+commitStep-1)/commitStep*commitStep, uint64(len(m.all)))
		if err := unix.Mprotect(m.all[m.ready:ready], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil, err
		}
		m.ready = ready
	}
	return m.all[:size:size], nil
}

func (m *mapped) free() error {
	if m.all == nil {
		return nil
	}
	all := m.all
	m.all, m.ready = nil, 0
	return unix.Munmap(all)
}
