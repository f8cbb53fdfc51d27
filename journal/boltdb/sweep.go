package boltdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

const (
	// sweepFrom is how many owners' files there are before those of the dead are looked for: killed processes leave one each.
	sweepFrom = 64
	// sweepAge is how old a file must be, so that one that is only just being made is left alone.
	sweepAge = time.Minute
)

// sweepOwners removes the files of owners that are dead and that no unfinished run names, once there are so many files, or only counts
// them.
func (j *Journal) sweepOwners(from int, count bool) (n int, err error) {
	files, err := os.ReadDir(j.owner.dir)
	if err != nil && !os.IsNotExist(err) {
		return 0, fmt.Errorf("look through the owners: %w", err)
	}
	if len(files) < from {
		return 0, nil
	}
	named := map[string]bool{}
	for s, err := range j.List(context.Background(), journal.Query{Unfinished: true}) {
		if err != nil {
			return n, err
		}
		named[s.Owner] = true
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || named[f.Name()] || j.now().Sub(info.ModTime()) < sweepAge {
			continue // also when it has gone meanwhile
		}
		if live, err := j.Liveness(f.Name()); err != nil || live != journal.Dead {
			continue
		}
		if n++; count {
			continue
		}
		if err := os.Remove(filepath.Join(j.owner.dir, f.Name())); err != nil && !os.IsNotExist(err) {
			return n, fmt.Errorf("remove a dead owner's file: %w", err)
		}
	}
	return n, nil
}
