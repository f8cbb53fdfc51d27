package hostfuncs_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
)

func TestSecretsAreReadFromTheirSources(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("WRUN_TEST_KEY", "from the environment\n")
	t.Setenv("WRUN_TEST_EMPTY", "")
	long := strings.Repeat("x", 8192)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file("target", "behind a link", 0o600), link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ source, want, why string }{
		{"env:WRUN_TEST_KEY", "from the environment\n", ""},
		{"env:WRUN_TEST_NONE", "", "the environment has no WRUN_TEST_NONE"},
		{"env:WRUN_TEST_EMPTY", "", "the environment has no WRUN_TEST_EMPTY"},
		{"file:" + file("a", "one line\n", 0o600), "one line", ""},
		{"file:" + file("b", "one line\r\n", 0o600), "one line", ""},
		{"file:" + file("c", "two\nlines\n\n", 0o600), "two\nlines\n", ""},
		{"file:" + file("d", long+"\r\n", 0o600), long, ""},
		{"file:" + file("e", "", 0o600), "", ""},
		{"file:" + link, "behind a link", ""},
		{"file:" + filepath.Join(dir, "none"), "", "is not there"},
		{"file:" + dir, "", "no regular file"},
		{"file:/dev/null", "", "no regular file"},
		{"hunter2", "", "none of env:"},
	} {
		if strings.HasPrefix(c.source, "file:/dev") && runtime.GOOS == "windows" {
			continue
		}
		got, err := hostfuncs.ReadSecret(t.Context(), c.source)
		if (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) || string(got) != c.want {
			t.Errorf("%.60s: got %.60q, %v, want %.60q, %q", c.source, got, err, c.want, c.why)
		}
	}
	if os.Getuid() != 0 && runtime.GOOS != "windows" {
		if _, err := hostfuncs.ReadSecret(t.Context(), "file:"+file("locked", "x", 0)); err == nil || !strings.Contains(err.Error(), "may not be read") {
			t.Errorf("got %v", err)
		}
	}
}

func TestSecretsAreReadFromPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell to write programs for")
	}
	dir := t.TempDir()
	program := func(name, script string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return "cmd:" + path
	}
	for _, c := range []struct{ source, want, why string }{
		{program("args", `printf '%s|' "$@"`) + " a $HOME *", "a|$HOME|*|", ""},
		{program("line", `echo value; echo noise >&2`), "value", ""},
		{program("stdin", `cat; echo end`), "end", ""},
		{program("fails", `printf 'the \033[31mkeyring is locked\n' >&2; exit 3`), "", "exit status 3: the keyring is locked"},
		{program("says", `echo hunter2hunter2; echo hunter2hunter2 >&2; exit 3`), "", "exit status 3"},
		{program("endless", `while :; do echo hunter2hunter2hunter2hunter2hunter2hunter2hunter2; done`), "", "printed more than 8192 bytes"},
		{"cmd:wrun-test-no-such-program", "", "is not on the PATH"},
		{"cmd:" + filepath.Join(dir, "none"), "", "no such file"},
	} {
		got, err := hostfuncs.ReadSecret(t.Context(), c.source)
		if (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) || string(got) != c.want {
			t.Errorf("%s: got %.60q, %v, want %.60q, %q", c.source, got, err, c.want, c.why)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error holds the value: %v", c.source, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := hostfuncs.ReadSecret(ctx, program("hangs", "exec sleep 600")); err == nil || !strings.Contains(err.Error(), "did not end in time") {
		t.Errorf("a program that was given up: %v", err)
	}
}
