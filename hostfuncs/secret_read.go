package hostfuncs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// minSecret and maxSecret bound a value, in bytes.
	minSecret = 8
	maxSecret = 8192
	// secretTimeout is how long a program may take to print a value. A person may have to unlock something.
	secretTimeout = 30 * time.Second
)

// ReadSecret reads a value from env:VARIABLE, from file:/PATH, which must be a regular file, or from what cmd:PROGRAM ARG… prints
// within 30 s. The program is started without a shell, with the environment of this process and nothing on its standard input.
// One line break at the end of a file or of what is printed is no part of the value. At most 8192 bytes are read.
func ReadSecret(ctx context.Context, source string) ([]byte, error) {
	kind, what, _ := strings.Cut(source, ":")
	switch kind {
	case "env":
		value, ok := os.LookupEnv(what)
		if !ok || value == "" {
			return nil, fmt.Errorf("the environment has no %s: set it where wrun is started", what)
		}
		return []byte(value), nil
	case "file":
		return secretFile(what)
	case "cmd":
		return secretProgram(ctx, strings.Fields(what))
	}
	return nil, errors.New("it is none of env:VARIABLE, file:PATH and cmd:PROGRAM")
}

func secretFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("file %s is not there", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("file %s may not be read by this user", path)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	value, err := io.ReadAll(io.LimitReader(f, maxSecret+int64(len("\r\n"))+1))
	if err != nil {
		return nil, err
	}
	return withoutLineBreak(value), nil
}

// withoutLineBreak cuts one line break off the end.
func withoutLineBreak(b []byte) []byte {
	b, cut := bytes.CutSuffix(b, []byte("\n"))
	if cut {
		b, _ = bytes.CutSuffix(b, []byte("\r"))
	}
	return b
}

func secretProgram(ctx context.Context, args []string) ([]byte, error) {
	if len(args) == 0 {
		return nil, errors.New("it names no program")
	}
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	out := &printed{max: maxSecret + len("\r\n"), full: cancel}
	said := &printed{max: 4 << 10}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, said, time.Second
	err := cmd.Run()
	program := toolabi.CleanLine(args[0], 200)
	switch {
	case out.over:
		return nil, fmt.Errorf("program %s printed more than %d bytes", program, maxSecret)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("program %s did not end in time", program)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("program %s is not on the PATH", program)
	case err != nil:
		text := fmt.Sprintf("program %s: %v", program, err)
		if hint := toolabi.CleanLine(string(said.b), 200); hint != "" && len(out.b) == 0 { // else it could say again what it printed
			text += ": " + hint
		}
		return nil, errors.New(text)
	}
	return withoutLineBreak(out.b), nil
}

// printed keeps what is written to it up to max bytes, calls full when there is more, and drops that.
type printed struct {
	b    []byte
	max  int
	over bool
	full func()
}

func (c *printed) Write(p []byte) (int, error) {
	keep := min(len(p), c.max-len(c.b))
	c.b = append(c.b, p[:keep]...)
	if keep < len(p) && !c.over {
		c.over = true
		if c.full != nil {
			c.full()
		}
	}
	return len(p), nil
}
