package trials

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Program is a built wrun and what every use of it is given.
type Program struct {
	// Wrun is the path of the program.
	Wrun string
	// Journal is the journal's file, Cache the directory of compiled modules.
	Journal, Cache string
	// Env are more variables of its environment, as "NAME=value".
	Env []string
	// Prefix is a command that wrun is started by, such as a tracer; none for wrun itself.
	Prefix []string
	// Seen is told how every process has ended, unless it is nil. It may be called concurrently.
	Seen func(Exit)
}

// Build builds wrun and the payments tool of this module into dir, as wrun and payments.wasm. It has to be called from
// inside of the module. tags are build tags of wrun, such as those that break it on purpose.
func Build(ctx context.Context, dir, tags string) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	wrun := filepath.Join(dir, "wrun")
	build := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", wrun, "./cmd/wrun")
	build.Dir = root
	if _, err := output(build); err != nil {
		return err
	}
	_, err = Tool(ctx, wrun, "payments", dir)
	return err
}

// Tool builds a tool of this module, by the name of its folder in tools, into dir with a built wrun, and returns the path of it.
func Tool(ctx context.Context, wrun, name, dir string) (string, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	tool := filepath.Join(dir, name+".wasm")
	_, err = output(exec.CommandContext(ctx, wrun, "tool", "build", filepath.Join(root, "tools", name), "-o", tool))
	return tool, err
}

func moduleRoot(ctx context.Context) (string, error) {
	root, err := output(exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}"))
	return strings.TrimSpace(root), err
}

func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return stdout.String(), nil
}

// Process is a wrun that was started.
type Process struct {
	cmd            *exec.Cmd
	began          time.Time
	stdout, stderr bytes.Buffer
	dead           chan struct{} // closed when it has ended and was waited for
	took           time.Duration // set before dead is closed
	seen           func(Exit)
}

// Exit is how a process ended.
type Exit struct {
	// Code is the exit code, -1 for a process that was killed.
	Code           int
	Stdout, Stderr string
	Took           time.Duration
}

// Killed says whether the process was killed before it ended by itself.
func (e Exit) Killed() bool { return e.Code == -1 }

// Start starts wrun with these arguments.
func (p Program) Start(args ...string) (*Process, error) {
	argv := slices.Concat(p.Prefix, []string{p.Wrun, "--journal", p.Journal}, args)
	proc := &Process{cmd: exec.Command(argv[0], argv[1:]...), dead: make(chan struct{}), seen: p.Seen}
	proc.cmd.Env = append(append(os.Environ(), "WRUN_CACHE="+p.Cache), p.Env...)
	proc.cmd.Stdout, proc.cmd.Stderr = &proc.stdout, &proc.stderr
	proc.began = time.Now()
	if err := proc.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Wrun, err)
	}
	go func() {
		defer close(proc.dead)
		_ = proc.cmd.Wait() // what it says is in ProcessState
		proc.took = time.Since(proc.began)
	}()
	return proc, nil
}

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Dead is closed when the process has ended.
func (p *Process) Dead() <-chan struct{} { return p.dead }

// Kill ends the process as kill -9 does, and returns when it is dead.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.dead
}

// Wait returns how the process ended. When ctx ends first, the process is killed, and that is an error.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	return p.WaitOrKill(ctx, 0, nil)
}

// WaitOrKill is Wait that kills the process after a time, unless that is 0, or when a channel is closed.
func (p *Process) WaitOrKill(ctx context.Context, after time.Duration, when <-chan struct{}) (Exit, error) {
	var due <-chan time.Time
	if after > 0 {
		t := time.NewTimer(after)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-p.dead:
	case <-due:
		p.Kill()
	case <-when:
		p.Kill()
	case <-ctx.Done():
		p.Kill()
		return Exit{}, fmt.Errorf("%s: %w\n%s", strings.Join(p.cmd.Args, " "), context.Cause(ctx), p.stderr.String())
	}
	exit := Exit{Code: p.cmd.ProcessState.ExitCode(), Stdout: p.stdout.String(), Stderr: p.stderr.String(), Took: p.took}
	if p.seen != nil {
		p.seen(exit)
	}
	return exit, nil
}

// Run starts wrun and waits until it has ended by itself.
func (p Program) Run(ctx context.Context, args ...string) (Exit, error) {
	proc, err := p.Start(args...)
	if err != nil {
		return Exit{}, err
	}
	return proc.Wait(ctx)
}
