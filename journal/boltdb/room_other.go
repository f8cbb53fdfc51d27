//go:build !linux && !darwin

package boltdb

import (
	"errors"
	"os"
)

// allocate cannot hold space on this operating system.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
