//go:build !linux

package memory

// handle is of no use where no file can be mapped that has no name.
type handle struct{}

var noFile handle

func (i *Image) fill([]byte) bool { return false }

func (i *Image) free() {}
