//go:build unix

package toolbuild

import (
	"os/exec"
	"syscall"
)

// together puts a program into a group with all that it starts, so that all of it is asked to end when the command's context ends: "go
// test" does not end what it tests, and what it is killed in the middle of stays in the directory for temporary files. kill ends what did
// not end by itself.
func together(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	return func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most often nothing is left
		}
	}
}
