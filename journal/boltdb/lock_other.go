//go:build !windows && (!unix || solaris || illumos || aix)

package boltdb

import (
	"errors"
	"os"
)

const initialMap = 0

var errNoLocks = errors.New("journals in files need locks that this operating system does not have")

func tryLock(*os.File, bool) (bool, error) { return false, errNoLocks }

func unlock(*os.File) error { return errNoLocks }

func openNoFollow(path string) (*os.File, error) { return nil, errNoLocks }

func isNoSpace(error) bool { return false }

func syncDir(string) error { return nil }

func isReadOnly(error) bool { return false }
