//go:build unix && !linux

package sandbox_test

import "errors"

func mknod(string) error { return errors.ErrUnsupported }
