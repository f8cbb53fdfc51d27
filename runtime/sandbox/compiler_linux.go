package sandbox

import (
	"os/exec"
	"syscall"
)

// setApart keeps a process from the signals of the terminal, and ends it with this one.
func setApart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// limitMemory bounds what the process can write to of its own, heap and mapped code alike. Its address space is not a
// measure: Go reserves far more of it than it uses.
func limitMemory(bytes uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
