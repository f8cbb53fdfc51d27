//go:build unix && !linux

package sandbox

import (
	"os/exec"
	"syscall"
)

// setApart keeps a process from the signals of the terminal. That this process has died it learns from its standard input.
func setApart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// limitMemory has nothing to do: these systems bound nothing of what Go allocates.
func limitMemory(uint64) error { return nil }
