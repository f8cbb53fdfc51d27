//go:build !unix

package toolbuild

import "os/exec"

// together leaves a program as it is: there are no groups here, and it alone is killed when the command's context ends.
func together(*exec.Cmd) (kill func()) { return func() {} }
