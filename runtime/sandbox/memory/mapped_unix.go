//go:build unix

package memory

import "golang.org/x/sys/unix"

// mapped is a region of address space as large as the memory may become, of which the part in use can be touched. Growing
// does not copy it, pages that were never touched cost nothing, and all of it goes back to the system at once. Go's
// collector does not know of it: what points into it keeps nothing alive.
type mapped struct {
	all   []byte
	ready uint64 // bytes that can be read and written
	used  uint64 // the most bytes that were asked for since everything behind the image was zero
	most  uint64 // and since pages were given back
	image *Image
	tells func() finder // makes one; nil for none
	find  finder        // of pages that were written; nil where the system does not tell, or no more, or the image is not mapped
	calm  int           // resets in a row that found much held and little changed

	held, changed int // bytes that the last reset found
}

// reserve reserves addresses. Memory that cannot be touched is not counted against the system's, so that the reservation
// fails only where addresses are bounded; First asks for memory, and is told in order when there is none.
func reserve(limit uint64) (Region, error) {
	m := &mapped{tells: newFinder}
	if limit == 0 {
		return m, nil
	}
	var err error
	m.all, err = unix.Mmap(-1, 0, int(limit), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return m, err
}

// commitStep is how much is made usable at a time, in bytes: a guest that grows page by page pays for few system calls.
const commitStep = 1 << 20

// First implements Region.
func (m *mapped) First(size uint64) ([]byte, error) {
	if size > m.ready {
		ready := min((size+commitStep-1)/commitStep*commitStep, uint64(len(m.all)))
		if err := unix.Mprotect(m.all[m.ready:ready], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil, err
		}
		if m.find != nil && m.find.clean(m.all[m.ready:ready]) != nil {
			m.find = nil
		}
		m.ready = ready
	}
	m.used, m.most = max(m.used, size), max(m.most, size)
	return m.all[:size:size], nil
}

// Adopt implements Region.
func (m *mapped) Adopt(i *Image) error {
	i.Retain()
	m.image.release()
	m.image = i
	if _, err := m.First(i.Size()); err != nil {
		return err
	}
	m.find = nil
	if find := m.tells(); find != nil && i.canBeMapped() {
		if err := i.mapOver(m.all[:i.Size()]); err != nil {
			return err
		}
		if find.follow(m.all) == nil {
			m.find = find
		}
	}
	m.forget()
	return nil
}

const (
	// muchHeld is how much a region may hold that its calls do not change, in bytes, and calmResets for how many resets.
	muchHeld   = 512 << 10
	calmResets = 8
)

// Reset implements Region. Pages stay the region's own after it, since the next use most likely writes the same ones. What
// one use took and those after it do not is given back after a while.
func (m *mapped) Reset() {
	m.held, m.changed = 0, 0
	switch {
	case m.find == nil || m.find.written(m.all[:m.used], m) != nil:
		m.forget()
	case m.held < muchHeld || m.changed > m.held/4:
		m.calm = 0
	case m.calm < calmResets:
		m.calm++
	default:
		m.forget()
	}
}

// visit implements visitor: it resets a piece.
func (m *mapped) visit(piece []byte, at uint64) {
	m.held += len(piece)
	m.changed += restore(piece, m.image.content, at)
}

// forget gives back the region's own pages, which also resets them: the system shows the image there again, and zeros behind
// it. Where the system does not do that, or stops telling what was written, all of the memory is compared, from then on.
func (m *mapped) forget() {
	m.calm = 0
	if m.find != nil && unix.Madvise(m.all[:m.ready], unix.MADV_DONTNEED) == nil {
		m.used, m.most = m.image.Size(), m.image.Size()
		if m.find.clean(m.all[:m.ready]) == nil {
			return
		}
	}
	m.find = nil
	restore(m.all[:m.used], m.image.content, 0)
	m.used = m.image.Size()
}

// Held implements Region.
func (m *mapped) Held() uint64 { return m.most }

// Free implements Region.
func (m *mapped) Free() error {
	m.image.release()
	m.image = nil
	if m.all == nil {
		return nil
	}
	all := m.all
	m.all, m.ready, m.used, m.most = nil, 0, 0, 0
	return unix.Munmap(all)
}
