package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// errCompileTime is the cause of a context that ends with Config.CompileTimeout.
var errCompileTime = errors.New("compiling took too long")

// command has Config.Compiler compile a module into a directory that is empty. When it returns, the process is gone.
func (s *Sandbox) command(ctx context.Context, dir string, f form) (made, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.CompileTimeout, errCompileTime)
	defer cancel()
	argv := s.cfg.Compiler
	args := append(argv[1:len(argv):len(argv)], dir, strconv.FormatUint(s.cfg.CompileMemory, 10), strconv.Itoa(len(f.whole)), strconv.Itoa(len(f.hollow)))
	cmd := exec.CommandContext(ctx, argv[0], args...)
	said, complained := &head{most: 64 << 10}, &head{most: 16 << 10}
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, said, complained
	cmd.WaitDelay = time.Second // for what the command may have started, and that holds its streams
	setApart(cmd)
	if err := runFed(cmd, f.whole, f.hollow); err != nil {
		return made{}, s.commandError(ctx, err, complained.buf)
	}
	return parseReport(said.buf)
}

// runFed runs a command that is given modules on its standard input, which is left open until it has ended: its end tells the
// command that this process has died.
func runFed(cmd *exec.Cmd, modules ...[]byte) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	// The signal at a parent's death comes when the thread ends that started the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		for _, m := range modules {
			_, _ = in.Write(m) // what ends it early is known better by how the process ended
		}
	}()
	err = cmd.Wait() // closes in
	<-written
	if errors.Is(err, exec.ErrWaitDelay) { // it is gone, and something that it started is not
		_ = cmd.Cancel()
	}
	return err
}

// commandError says why the command did not do what it was asked to.
func (s *Sandbox) commandError(ctx context.Context, err error, stderr []byte) error {
	switch cause := context.Cause(ctx); {
	case cause == errCompileTime:
		return refuse(CompileBudget, "it takes more than %s to compile, which is the limit; build it smaller, or allow it more time if you trust it", s.cfg.CompileTimeout)
	case cause != nil:
		return cause
	}
	why := complaint(stderr)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("run the compiler %s: %w", quote(s.cfg.Compiler[0]), err)
	}
	if exit.ExitCode() == exitMemory || outOfMemory(stderr) {
		return refuse(CompileBudget, "it takes more than %s of memory to compile, which is the limit; build it smaller, or allow it more memory if you trust it", size(s.cfg.CompileMemory))
	}
	how := exit.String()
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGKILL {
		how += ", perhaps because the machine has no memory left"
	}
	if why != "" {
		how += ": " + why
	}
	return fmt.Errorf("the compiler ended without an answer: %s", how)
}

// outOfMemory tells whether a process of Go ended because the system gave it no more memory. Nothing of a guest is in what it
// writes then.
func outOfMemory(stderr []byte) bool {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "failed to allocate"} {
		if bytes.Contains(stderr, []byte(sign)) {
			return true
		}
	}
	return false
}

// complaint returns the first line that says something, as people may see it.
func complaint(stderr []byte) string {
	for line := range strings.Lines(string(stderr)) {
		if line = strings.TrimSpace(toolabi.CleanLine(line, 300)); line != "" {
			return line
		}
	}
	return ""
}

// report is what the command says on its standard output: one of the fields, with Key for a second, as one JSON object.
type report struct {
	// File is the path of the code, below the directory, in slashes.
	File string `json:"file,omitempty"`
	// Key, beside it, is the name by which the compiler asks for the code when it is shown the hollow module.
	Key string `json:"key,omitempty"`
	// Interpreted says that there is nothing to compile to on this machine.
	Interpreted bool `json:"interpreted,omitempty"`
	// Unwritten is why the code could not be written.
	Unwritten string `json:"unwritten,omitempty"`
	// Malformed is why it is no module.
	Malformed string `json:"malformed,omitempty"`
}

// parseReport returns what was made. The errors are errNoCode, ErrCache, a *LoadError, and one about the report.
func parseReport(said []byte) (made, error) {
	var r report
	d := json.NewDecoder(bytes.NewReader(said))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("there is more behind it")
		}
	}
	switch {
	case err != nil:
	case r.File != "":
		return made{filepath.FromSlash(r.File), r.Key}, nil
	case r.Interpreted:
		return made{}, errNoCode
	case r.Unwritten != "":
		return made{}, fmt.Errorf("%w: %s", ErrCache, toolabi.CleanLine(r.Unwritten, 1000))
	case r.Malformed != "":
		return made{}, refuse(Malformed, "%s", toolabi.CleanLine(r.Malformed, 1000))
	default:
		err = errors.New("it says nothing")
	}
	return made{}, fmt.Errorf("the compiler's answer %s cannot be read: %w", quote(string(said)), err)
}

// size writes a number of bytes for people.
func size(n uint64) string {
	for _, u := range []struct {
		unit string
		n    uint64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		if n >= u.n && n%u.n == 0 {
			return fmt.Sprintf("%d %s", n/u.n, u.unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// head keeps the beginning of what is written to it.
type head struct {
	buf  []byte
	most int
}

// Write implements io.Writer; it never fails.
func (h *head) Write(p []byte) (int, error) {
	h.buf = append(h.buf, p[:min(len(p), h.most-len(h.buf))]...)
	return len(p), nil
}
