//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is one bash for all commands of a page: they share its directory, its variables and what they start in the background.
type shell struct {
	t    *testing.T
	in   io.Writer
	done *bufio.Reader // a line with the exit code of each command
	out  string        // the file with what the last command printed
}

// startShell starts a shell in a directory. What is left of it and its commands is killed when the test ends, or after five minutes.
func startShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	c := exec.CommandContext(ctx, "bash", "--noprofile", "--norc")
	c.Dir, c.Env = dir, env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	done, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.ExtraFiles = []*os.File{told}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	told.Close()
	t.Cleanup(func() {
		cancel() // which kills the group
		_ = c.Wait()
		done.Close()
	})
	return &shell{t: t, in: in, done: bufio.NewReader(done), out: filepath.Join(t.TempDir(), "out")}
}

// run does what a user types, and returns what it printed and its exit code. With strict, the first command in it that fails ends it, and
// the shell with it.
func (s *shell) run(command string, strict bool) (string, int) {
	s.t.Helper()
	read := exec.Command("bash", "-n")
	if read.Stdin = strings.NewReader(command); read.Run() != nil { // the shell would wait for the rest of it
		s.t.Fatalf("$ %s\nis not a whole command: lines of one end in a backslash, or go on behind \"> \"", command)
	}
	begin := ""
	if strict {
		begin = "set -e\n"
	}
	// Nothing but the shell has the pipe: what is started in the background must not keep it open.
	script := fmt.Sprintf("{\n%s%s\n} >%q 2>&1 </dev/null 3>&-\necho $? >&3\nset +e\n", begin, command, s.out)
	if _, err := io.WriteString(s.in, script); err != nil {
		s.t.Fatalf("%s\n%v", command, err)
	}
	line, err := s.done.ReadString('\n')
	printed, readErr := os.ReadFile(s.out)
	if err != nil || readErr != nil {
		s.t.Fatalf("$ %s\nended the shell: %v, %v\n%s", command, err, readErr, printed)
	}
	code, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(printed), code
}
