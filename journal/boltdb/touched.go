package boltdb

import (
	"os"
	"time"
)

// Touched returns when the journal's file was changed last, by whatever process, as far as the file system's clock tells moments apart.
// It takes no lock and reads nothing, so that it can be asked often; what was appended may be seen in it a moment before it can be read.
// A compaction changes it too.
func (j *Journal) Touched() (time.Time, error) {
	info, err := os.Stat(j.path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
