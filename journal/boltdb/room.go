package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wrun-dev/wrun/journal"
)

// A handle holds room in a file of its own beside its owner's: blocks that are allocated to it are nobody else's. The file grows in
// steps and stays as large as it had to be, so that an effect costs no call of the system; only when space is in fact short is it
// made shorter, by what is missing. It goes with the handle, and what a killed process leaves of it is removed by the next one that
// registers as an owner.
//
// Blobs take an inode each, and the first of a directory another one. For those the room keeps empty files.

const (
	// roomStep is by how much the file grows, in bytes.
	roomStep = 1 << 20
	// roomSlack is what the commit of an outcome may need beside it: bbolt writes every page anew that it changes.
	roomSlack = reserved
	// roomExtra is what the names of a blob and the rounding to blocks may take.
	roomExtra = 64 << 10
	// roomKept is how large the file may stay while nothing is held.
	roomKept = 32 << 20
	// inodesOfBlob is how many inodes a blob may take: its own, that of its directory, and that of its pin.
	inodesOfBlob = 3

	roomSuffix = ".room"
)

// room is what a handle holds on the disk for outcomes that may come.
type room struct {
	mu     sync.Mutex // guards what follows
	file   *os.File   // nil until something is held for the first time
	held   int64      // promised, in bytes
	size   int64      // allocated to the file; 0 where the file system allocates nothing
	blobs  int        // how many of the outcomes may need a blob
	spares []string   // empty files
	looked bool       // the file system cannot hold space: it is only looked at
}

// Reserve holds space for a body of n bytes and its entry; see journal.Room. What is held takes part in no commit, so that it costs
// nothing but, where the file has to grow, the growing.
func (j *Journal) Reserve(ctx context.Context, n int64) (use, drop func(), err error) {
	if err := errors.Join(ctx.Err(), j.gate.usable()); err != nil {
		return nil, nil, err
	}
	switch {
	case n < 0:
		return nil, nil, fmt.Errorf("hold %d bytes: less than nothing", n)
	case n > 1<<50:
		return nil, nil, fmt.Errorf("hold %d bytes: %w", n, journal.ErrNoSpace)
	}
	owner, err := j.Owner()
	if err != nil {
		return nil, nil, fmt.Errorf("hold %d bytes: %w", n, noSpace(err))
	}
	cost, blob := costOf(n), n > journal.MaxInline
	if blob { // the directories of all blobs, and of the handle's pins, are made once
		if err := errors.Join(j.blobs.mkdir(j.blobs.dir), j.pins.prepare(ctx)); err != nil {
			return nil, nil, fmt.Errorf("hold %d bytes: %w", n, noSpace(err))
		}
	}
	if err = j.room.hold(filepath.Join(j.owner.dir, owner+roomSuffix), cost, blob); err != nil && isNoSpace(err) && j.sweepRooms() {
		err = j.room.hold(filepath.Join(j.owner.dir, owner+roomSuffix), cost, blob)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("hold %d bytes for an outcome: %w", n, noSpace(err))
	}
	var once sync.Once
	end := func() { once.Do(func() { j.room.letGo(cost, blob) }) }
	return end, end, nil
}

// costOf is what a body of n bytes takes with its entry: in the log it is on pages that may be half empty.
func costOf(n int64) int64 {
	return n + min(n, journal.MaxInline) + roomExtra
}

// errRoom is the error of a disk that is seen to be full before it says so.
type errRoom struct{ free, need uint64 }

func (e *errRoom) Error() string {
	return fmt.Sprintf("%v: %d bytes are left, up to %d may be needed", journal.ErrNoSpace, e.free, e.need)
}

// Is makes it one of a full disk.
func (e *errRoom) Is(target error) bool { return target == journal.ErrNoSpace }

// hold promises bytes to an outcome, or promises nothing.
func (r *room) hold(path string, cost int64, blob bool) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		if r.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
	}
	if blob {
		if err := r.spare((r.blobs + 1) * inodesOfBlob); err != nil {
			return err
		}
	}
	if want := r.held + cost + roomSlack; want > r.size {
		if err := r.grow(want); err != nil {
			return err
		}
	}
	r.held += cost
	if blob {
		r.blobs++
	}
	return nil
}

// letGo ends a promise. The space stays allocated for the next one.
func (r *room) letGo(cost int64, blob bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= cost
	if blob {
		r.blobs--
	}
	if r.held == 0 && r.size > roomKept {
		r.shrink(roomKept)
	}
}

// grow makes the file at least want bytes long: by a whole step where there is space for it.
func (r *room) grow(want int64) error {
	free, known := space(r.file)
	if known && uint64(want-r.size) > free {
		return &errRoom{free, uint64(want - r.size)}
	}
	if r.looked {
		return nil
	}
	sizes := []int64{(want + roomStep - 1) / roomStep * roomStep, want}
	if known && uint64(sizes[0]-r.size)+reserved > free { // what is to be announced has to be committed first
		sizes = sizes[1:]
	}
	var err error
	for _, size := range sizes {
		if err = allocate(r.file, r.size, size); err == nil {
			r.size = size
			return nil
		}
		if errors.Is(err, errors.ErrUnsupported) {
			r.looked = true
			return nil
		}
	}
	return err
}

// shrink gives space back. Called with mu held.
func (r *room) shrink(size int64) {
	if size < r.size && r.file.Truncate(size) == nil {
		r.size = size
	}
}

// spare makes sure of n empty files. Called with mu held.
func (r *room) spare(n int) error {
	for len(r.spares) < n {
		name := fmt.Sprintf("%s.%d", r.file.Name(), len(r.spares))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		r.spares = append(r.spares, name)
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// give gives space back that is held for nobody, and says whether there was some. What is kept beyond what is held, for the
// commits of the outcomes, is given to such a commit alone.
func (r *room) give(toCommit bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	keep := r.held
	if !toCommit {
		keep += roomSlack
	}
	before, files := r.size, len(r.spares)
	r.shrink(keep)
	if !toCommit && files > r.blobs*inodesOfBlob {
		_ = os.Remove(r.spares[files-1])
		r.spares = r.spares[:files-1]
	}
	return r.size < before || len(r.spares) < files
}

// regain takes back what a commit was given, as far as there is space. What is held for other outcomes needs it.
func (r *room) regain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if want := r.held + roomSlack; r.held > 0 && r.size < want && !r.looked {
		_ = r.grow(want)
	}
}

// promised is what is held without being allocated, which others must not count on.
func (r *room) promised() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.looked {
		return 0
	}
	return uint64(r.held)
}

// spaced calls f, and again as long as there is no space for it and the room can give some. nil gives none.
func (r *room) spaced(f func() error) error {
	err := f()
	for err != nil && isNoSpace(err) && r != nil && r.give(false) {
		err = f()
	}
	return err
}

// close gives everything back.
func (r *room) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	for _, name := range append(r.spares, r.file.Name()) {
		if gone := os.Remove(name); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	r.file, r.spares, r.size = nil, nil, 0
	return err
}

// sweepRooms removes the rooms of owners that have died, and says whether there were any. An owner's own file is there as long as
// its room may be.
func (j *Journal) sweepRooms() (swept bool) {
	files, err := os.ReadDir(j.owner.dir)
	if err != nil {
		return false
	}
	for _, f := range files {
		owner, _, ok := strings.Cut(f.Name(), roomSuffix)
		if !ok {
			continue
		}
		live, err := j.Liveness(owner)
		if err != nil || live == journal.Alive {
			continue
		}
		if os.Remove(filepath.Join(j.owner.dir, f.Name())) == nil {
			swept = true
		}
	}
	return swept
}

// roomyWriter writes to a file, into what the room can give where there is no other space.
type roomyWriter struct {
	f    *os.File
	room *room
}

func (w *roomyWriter) Write(p []byte) (n int, err error) {
	err = w.room.spaced(func() error {
		m, err := w.f.Write(p[n:])
		n += m
		return err
	})
	return n, err
}
