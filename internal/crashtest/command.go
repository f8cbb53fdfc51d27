package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is a Child that is a process of its own.
type Command struct {
	// Argv is a program with its arguments, which reads a Job from standard input and talks as Talk does. What is in the environment
	// beside that of this process is for the job to say.
	Argv []string
	Env  func(Job) []string
}

// Live is as in Child.
func (c Command) Live(ctx context.Context, job Job, judge func(Doubt) (Verdict, error)) (Lived, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.WaitDelay = time.Second // for what it has started, which has its pipes
	cmd.Env = append(os.Environ(), c.Env(job)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return Lived{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Lived{}, err
	}
	if err := cmd.Start(); err != nil {
		return Lived{}, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	err = writeLine(in, job)
	var l Lived
	if err == nil || errors.Is(err, syscall.EPIPE) { // it has ended, and says why
		l.Died, l.End, err = Listen(out, in, judge)
	}
	if err != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
	}
	waitErr := cmd.Wait()
	if ctx.Err() != nil {
		return Lived{}, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		err = errors.Join(err, waitErr)
	}
	l.Killed, l.Code, l.Said = killed(cmd.ProcessState), cmd.ProcessState.ExitCode(), said.String()
	return l, err
}

// killed says whether SIGKILL ended a process, or what stands for it on Windows.
func killed(s *os.ProcessState) bool {
	if runtime.GOOS == "windows" {
		return s.ExitCode() == 1
	}
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}

// KillSelf ends this process as kill -9 does.
func KillSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill() // what follows waits for it
	}
	select {}
}
