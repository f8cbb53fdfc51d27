//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// tmux is a terminal in which somebody types.
type tmux struct {
	t      *testing.T
	socket string
}

func newTmux(t *testing.T, dir string, env ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("NOT TESTED: what the command looks like on a terminal, since there is no tmux here")
	}
	m := &tmux{t, filepath.Join(dir, "tmux")}
	start := exec.Command("tmux", "-S", m.socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "sh")
	start.Dir, start.Env = dir, append(os.Environ(), append(env, "ENV=", "TERM=screen", "LC_ALL=C.UTF-8")...)
	if text, err := start.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, text)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

func (m *tmux) do(args ...string) string {
	m.t.Helper()
	text, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v\n%s", args, err, text)
	}
	return string(text)
}

// shows waits until the screen is one that it should become, and returns it.
func (m *tmux) shows(what string, is func(screen string) bool) string {
	m.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	screen := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		if screen = strings.TrimRight(m.do("capture-pane", "-p"), "\n"); is(screen) {
			return screen
		}
	}
	m.t.Fatalf("the screen does not show %s:\n%s", what, screen)
	return ""
}

// TestATerminalIsLeftWhole sits before a terminal: a line says what is done, a resize does not garble it, and after Ctrl-C there is the prompt,
// with the cursor behind it, and nothing of the line.
func TestATerminalIsLeftWhole(t *testing.T) {
	l, err := ledger.Start(ledger.Config{Behaviour: ledger.Behaviour{Hang: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer l.Release()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "payments.wasm"), wasmtest.Tool(t, "tools/payments"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := newTmux(t, dir, "WRUN_JOURNAL="+filepath.Join(dir, "journal.db"), "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+dir)
	m.do("send-keys", "PS1='ready> '; clear", "Enter")
	m.shows("a prompt", func(s string) bool { return strings.HasPrefix(s, "ready>") })
	input := fmt.Sprintf(`{"ledger":%q,"account":"acme","amount_cents":5,"reference":"r"}`, l.URL())
	m.do("send-keys", "clear; wrun call payments.wasm charge '"+input+"' --id r --allow-http "+l.URL(), "Enter")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := l.WaitHanging(ctx, 1); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^[-|/\\] call +payments\.charge  [0-9.]+m?s  http_send POST 127\.0\.0\.1`)
	once := func(s string) bool { return line.MatchString(s) && strings.Count(s, "payments.charge ") == 1 }
	m.shows("a line for the call", once)
	for _, size := range []string{"50", "100", "60"} {
		m.do("resize-window", "-x", size, "-y", "24")
		is := regexp.MustCompile(`(?m)^[-|/\\] call +payments\.charge  .*(…|charges)$`)
		m.shows("one line for the call at "+size+" columns", func(s string) bool {
			return is.MatchString(s) && strings.Count(s, "payments.charge ") == 1
		})
	}
	m.do("send-keys", "C-c", "")
	s := m.shows("a prompt after Ctrl-C", func(s string) bool { return strings.HasSuffix(s, "\nready>") })
	if line.MatchString(s) || !strings.Contains(s, "  call         in doubt  payments.charge (") || !strings.Contains(s, "error[W0401]") {
		t.Errorf("after Ctrl-C the screen shows\n%s", s)
	}
	if at := strings.TrimSpace(m.do("display-message", "-p", "#{cursor_x} #{cursor_flag}")); at != "7 1" {
		t.Errorf("the cursor is at %q, want behind the prompt and shown: 7 1", at)
	}
	m.do("send-keys", "echo it was $?", "Enter")
	m.shows("the exit code", func(s string) bool { return strings.Contains(s, "\nit was 130\n") })

	m.do("resize-window", "-x", "80", "-y", "24")
	m.do("send-keys", "clear; wrun ls", "Enter")
	m.shows("who is waited for", func(s string) bool { return strings.Contains(s, "\n1 run waits for a person: wrun inbox\n") })
	m.do("send-keys", "clear; wrun show", "Enter")
	m.shows("a question for the run", func(s string) bool { return strings.HasSuffix(s, "or Enter for none:") })
	m.do("send-keys", "1", "Enter")
	m.shows("the run", func(s string) bool { return strings.Contains(s, "\nrun      r\nstatus   uncertain\n") })
}
