package boltdb

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// owner is the handle's own lock file. When the handle is closed it goes, unless a run still names it as its owner: then
// a file that is gone would say less than one that nobody locks.
type owner struct {
	dir string

	mu      sync.Mutex // guards what follows
	id      string
	file    *os.File
	claimed map[string]bool // the runs that name this owner
}

// note follows what an append made of a run's ownership.
func (o *owner) note(s *journal.State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id == "" || s.Owner != o.id {
		delete(o.claimed, s.Run)
		return
	}
	o.claim(s.Run)
}

// claim wants mu held.
func (o *owner) claim(run string) {
	if o.claimed == nil {
		o.claimed = map[string]bool{}
	}
	o.claimed[run] = true
}

// suspect keeps the owner's file where an append that failed may have made it the owner of a run.
func (o *owner) suspect(s *journal.State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id != "" && s.Owner == o.id {
		o.claim(s.Run)
	}
}

// Owner returns the handle's id; see journal.Owners.
func (j *Journal) Owner() (string, error) {
	if err := j.gate.usable(); err != nil {
		return "", err
	}
	o := &j.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id != "" {
		return o.id, nil
	}
	if err := j.register(); err != nil {
		return "", fmt.Errorf("register as an owner: %w", noSpace(err))
	}
	return o.id, nil
}

// register makes the file of the owner. It wants the owner's mu held. What fails leaves no file.
func (j *Journal) register() error {
	o := &j.owner
	if err := os.Mkdir(o.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	j.sweepRooms()
	if _, err := j.sweepOwners(sweepFrom, false); err != nil {
		return err
	}
	var b [16]byte
	rand.Read(b[:])
	id := hex.EncodeToString(b[:])
	f, err := os.OpenFile(filepath.Join(o.dir, id), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	ok, err := tryLock(f, true)
	switch {
	case err != nil:
	case !ok:
		err = fmt.Errorf("%s is locked by another process", f.Name())
	default:
		if _, err = fmt.Fprintf(f, "%d %d\n", os.Getpid(), j.now().UnixNano()); err == nil {
			err = o.syncName()
		}
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	o.id, o.file = id, f
	return nil
}

// syncName makes sure that the file's name is there after a crash. A claim without it would be one of which nobody could tell
// whether its owner lives, and a person would have to say so for every run that was driven when the power went.
func (o *owner) syncName() error {
	if err := syncDir(o.dir); err != nil {
		return err
	}
	return syncDir(filepath.Dir(o.dir)) // whoever made it may have died before this
}

// close lets the owner die.
func (o *owner) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	if len(o.claimed) == 0 {
		if gone := os.Remove(o.file.Name()); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	o.file = nil
	return err
}

// Liveness tells whether an owner's process, on this machine, still holds its lock.
func (j *Journal) Liveness(id string) (journal.Liveness, error) {
	if err := j.gate.usable(); err != nil {
		return journal.Unknown, err
	}
	f, err := j.owner.open(id)
	if err != nil || f == nil {
		return journal.Unknown, err
	}
	defer f.Close()
	// Shared, so that two who ask at the same time do not take each other for the owner.
	ok, err := tryLock(f, false)
	switch {
	case err != nil:
		return journal.Unknown, fmt.Errorf("liveness of %s: %w", id, err)
	case ok:
		return journal.Dead, nil
	}
	return journal.Alive, nil
}

// Describe says which process an owner is, or was.
func (j *Journal) Describe(id string) string {
	f, err := j.owner.open(id)
	if err != nil || f == nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 64)
	n, _ := f.ReadAt(b, 0)
	pid, since, ok := parseOwner(string(b[:n]))
	if !ok {
		return ""
	}
	return fmt.Sprintf("process %d, since %s", pid, since.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// open opens an owner's file, nil when there is none.
func (o *owner) open(id string) (*os.File, error) {
	if b, err := hex.DecodeString(id); err != nil || len(b) != 16 || hex.EncodeToString(b) != id {
		return nil, nil
	}
	f, err := openNoFollow(filepath.Join(o.dir, id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for owner %s: %w", id, err)
	}
	return f, nil
}

// parseOwner reads the text of an owner's file.
func parseOwner(s string) (pid uint32, since time.Time, ok bool) {
	var nanos int64
	if n, err := fmt.Sscanf(s, "%d %d\n", &pid, &nanos); n != 2 || err != nil || !strings.HasSuffix(s, "\n") {
		return 0, time.Time{}, false
	}
	return pid, time.Unix(0, nanos), true
}
