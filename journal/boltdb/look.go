package boltdb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Place is what can be known of where a journal is, or would be, without opening it.
type Place struct {
	// Dir is the directory of the journal, or the nearest one above it that is there.
	Dir string
	// Network is the name of the network file system that it is on, where no journal is opened; "" for none that is known.
	Network string
	// Free is how many bytes can be written there, where Known says that the system tells.
	Free  uint64
	Known bool
	// Size is how long the journal's file is, in bytes; 0 where there is none.
	Size int64
	// Taken says that a process holds the journal's lock at this instant, and Waits that another one waits for it. PID is who
	// holds it, 0 where that is not known, and Stopped that it was stopped, which is only known on Linux.
	Taken, Waits, Stopped bool
	PID                   int
}

// Look says where a journal at path is, or would be. It makes no file, waits for no other process, and can be wrong about the locks by
// the time that it returns. Errors: those of the file system.
func Look(path string) (Place, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Place{}, err
	}
	p := Place{Dir: filepath.Dir(abs)}
	dir, err := os.Open(p.Dir)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(p.Dir) != p.Dir {
		p.Dir = filepath.Dir(p.Dir)
		dir, err = os.Open(p.Dir)
	}
	if err != nil {
		return p, err
	}
	p.Network = networkFS(dir)
	p.Free, p.Known = space(dir)
	if err := dir.Close(); err != nil {
		return p, err
	}
	info, err := os.Stat(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	} else if err != nil {
		return p, err
	}
	p.Size = info.Size()
	return p, p.locks(abs)
}

// locks finds out who has the journal open.
func (p *Place) locks(path string) (err error) {
	nobody, err := unlocked(path + ".lock")
	if err != nil || nobody {
		return missing(err)
	}
	p.Taken = true
	f, err := openNoFollow(path + ".lock")
	if err != nil {
		return missing(err)
	}
	if p.PID = holder(f); p.PID != 0 {
		p.Stopped = stopped(p.PID)
	}
	if err := f.Close(); err != nil {
		return err
	}
	alone, err := unlocked(path + ".wait")
	p.Waits = err == nil && !alone
	return missing(err)
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Needs is how much space an effect wants to be free before it begins, in bytes, whose outcome may be as long as n; see Journal.Reserve.
func Needs(n int64) int64 { return costOf(n) + roomSlack + reserved }
