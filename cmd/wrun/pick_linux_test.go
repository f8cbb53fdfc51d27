package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Where the run is left out on a terminal, the runs that the command could be about are offered.
func TestARunIsChosenOnATerminal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WRUN_JOURNAL", filepath.Join(dir, "journal.db"))
	t.Setenv("WRUN_CACHE", wasmtest.CodeCache(t))
	t.Setenv("XDG_CONFIG_HOME", dir)
	flows := filepath.Join(dir, "flows.wasm")
	if err := os.WriteFile(flows, wasmtest.Tool(t, "internal/wasmtest/guests/flows"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][]string{{"ask", `{"text":"lamps\u001b[31m?"}`, "order-1"}, {"ask", `{"text":"chairs?"}`, "order-2"}, {"nap", `{"ms":3600000}`, "report"}} {
		var errOut bytes.Buffer
		if code := Main(t.Context(), []string{"call", flows, call[0], call[1], "--id", call[2]}, strings.NewReader(""), &errOut, &errOut); code != 3 {
			t.Fatalf("call %v: exit code %d\n%s", call, code, errOut.String())
		}
	}
	for _, c := range []struct {
		verb, typed string
		code        int
		want, not   []string // on the terminal
		out         string   // is in standard output
	}{
		{"ls", "", 0, []string{"2 runs wait for a person: wrun inbox"}, nil, "order-2"},
		{"ls --sort last -n 1", "", 0, nil, nil, "report"},
		{"ls report", "", 0, nil, []string{"inbox"}, "report"},
		{"show", "report\n", 0, []string{" 1  report ", " 2  order-2 ", " 3  order-1 "}, nil, "run      report"},
		{"show", "rep\n", 0, nil, nil, "run      report"},
		{"log", "2\n", 0, nil, nil, "created"},
		{"show", "ord\n", 2, []string{"error[W0127]: ord is the beginning of the ids of several runs"}, nil, ""},
		{"show", "nosuch\n", 10, []string{"error[W0302]"}, nil, ""},
		{"show", "\n", 2, []string{"error[W0128]: no run was chosen; nothing was done"}, nil, ""},
		{"show", "\x04", 2, []string{"error[W0128]"}, nil, ""},
		{"cancel", "0\n", 10, []string{"error[W0302]"}, nil, ""},
		{"rollback", "", 2, []string{"error[W0128]: there is no run that could be meant"}, []string{"Which"}, ""},
		{"resume", "", 2, []string{"error[W0128]: there is no run that could be meant"}, []string{"Which"}, ""},
		{"approve", "order\n", 2, []string{" 1  order-1  call/1  approve lamps", "order-2  call/1", "order means none of these, or several"}, []string{"report", "\x1b"}, ""},
		{"approve", "1\n", 0, []string{"call/1 of run order-1 is agreed to by "}, nil, ""},
		{"resume", "1\n", 0, []string{" 1  order-1  waiting"}, []string{" 2 "}, `"by"`},
		{"cancel --note over", "order-2\n", 0, []string{"run order-2 is cancelled and closed"}, []string{"order-1"}, ""},
	} {
		code, shown, out := onTerminal(t, strings.Fields(c.verb), c.typed)
		if code != c.code || !strings.Contains(out, c.out) {
			t.Errorf("%s, and typed %q: exit code %d, want %d; standard output %q; terminal\n%s", c.verb, c.typed, code, c.code, out, shown)
		}
		for _, text := range c.want {
			if !strings.Contains(shown, text) {
				t.Errorf("%s, and typed %q: the terminal lacks %q:\n%s", c.verb, c.typed, text, shown)
			}
		}
		for _, text := range c.not {
			if strings.Contains(shown, text) {
				t.Errorf("%s, and typed %q: the terminal has %q:\n%s", c.verb, c.typed, text, shown)
			}
		}
	}
	for _, args := range [][]string{{"show", "--json"}, {"approve", "--quiet"}} {
		if code, shown, _ := onTerminal(t, args, "1\n"); code != 2 || strings.Contains(shown, "Which") {
			t.Errorf("%v: exit code %d, terminal\n%s", args, code, shown)
		}
	}
}

// onTerminal runs the command with a terminal as its standard input and standard error, on which something is typed once it asks.
func onTerminal(t *testing.T, args []string, typed string) (code int, shown, out string) {
	t.Helper()
	master, terminal := openTerminal(t)
	read := make(chan string)
	go func() {
		defer close(read)
		var all strings.Builder
		buf := make([]byte, 4096)
		for asked := false; ; {
			n, err := master.Read(buf)
			all.Write(buf[:n])
			if !asked && strings.Contains(all.String(), "for none: ") {
				asked = true
				if _, err := master.WriteString(typed); err != nil {
					t.Error(err)
				}
			}
			if err != nil { // the terminal is closed
				read <- all.String()
				return
			}
		}
	}()
	var b bytes.Buffer
	code = Main(context.Background(), args, terminal, &b, terminal)
	terminal.Close()
	return code, strings.ReplaceAll(<-read, "\r\n", "\n"), b.String()
}

// openTerminal returns the two ends of a new terminal.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { master.Close() })
	return master, terminal
}

// Ctrl-C ends a wait, and the run is as it was.
func TestASignalEndsAWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), "idle", 0, journal.Entry{Kind: journal.Created, Name: "call", Time: 1}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	errOut := &until{text: "nobody drives run idle", then: func() { cancel(signalError{syscall.SIGINT}) }}
	var out bytes.Buffer
	code := Main(ctx, []string{"--journal", path, "wait", "idle", "--timeout", "1h"}, strings.NewReader(""), &out, errOut)
	if code != 130 || out.Len() != 0 || !strings.Contains(errOut.String(), "error[W0415]: received interrupt; nothing is left half done") {
		t.Errorf("exit code %d, standard output %q, standard error\n%s", code, out.String(), errOut.String())
	}
	out.Reset()
	if code := Main(t.Context(), []string{"--journal", path, "ls", "--json"}, strings.NewReader(""), &out, errOut); code != 0 || !strings.Contains(out.String(), `"entries":1,`) {
		t.Errorf("exit code %d, %s", code, out.String())
	}
}
