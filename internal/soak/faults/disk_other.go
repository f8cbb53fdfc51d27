//go:build !linux

package faults

type disk struct{ dir string }

func newDisk(string, string, string) (*disk, error) {
	return nil, errSkip("cutting the power of a disk needs Linux")
}

func (d *disk) cut() error   { return nil }
func (d *disk) power() error { return nil }
func (d *disk) close() error { return nil }
