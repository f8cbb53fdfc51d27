package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// A tool that is worked on is built again after each change, whatever came of the one before, until a signal ends that.
func TestToolDevBuildsAgainAfterAChange(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "x.wasm")
	file := filepath.Join(dir, "tool.toml") // in C without sources: no compiler is needed to say so
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	ctx, cancel := context.WithCancelCause(t.Context())
	ticks, ended := make(chan time.Time), make(chan error, 1)
	var said bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &said, errOut: &said}
	go func() { ended <- a.develop(ctx, dir, out, ticks, nil) }()
	rounds := func() int { return strings.Count(said.String(), "error[W0107]") } // read only between ticks, and after the end
	tick := func(n int) {
		for range n {
			ticks <- time.Time{}
		}
	}
	tick(3)
	write("two, and longer")
	tick(4)
	write("three, and longer still")
	tick(4)
	aside := filepath.Join(dir, "4913") // as editors save: beside the file, and then in its place
	if err := os.WriteFile(aside, []byte("four, and as long as that"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, file); err != nil {
		t.Fatal(err)
	}
	tick(4)
	for _, kept := range []string{"tool.toml~", "#tool.toml#", ".tool.toml.swp"} {
		if err := os.WriteFile(filepath.Join(dir, kept), []byte(kept), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tick(4)
	cancel(signalError{syscall.SIGINT})
	if err := <-ended; !errors.As(err, new(signalError)) {
		t.Errorf("it ended with %v", err)
	}
	if n := rounds(); n != 4 {
		t.Errorf("%d rounds, want 4:\n%s", n, &said)
	}
	if n := strings.Count(said.String(), "waiting for a change in "); n != 4 {
		t.Errorf("it waited %d times", n)
	}
	if code := a.report(ctx, context.Cause(ctx)); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

func TestWhatBuildingWritesIsNoChange(t *testing.T) {
	for path, want := range map[string]bool{"x/tool.wasm": true, "x/a.wrun.tar": true, "x/.git": true, "x/main.go": false, "x/cases": false, "x/cases/a.yaml": false, "x/wrun.h": false} {
		if got := notSources(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// The cases are run by the verb "test", as soon as there is one.
func TestToolDevRunsTheCasesWhereThereIsAVerbForThem(t *testing.T) {
	root := &cobra.Command{Use: "wrun"}
	if casesOf(root, "x", "x.wasm") != nil {
		t.Error("cases are run without a verb")
	}
	var got []string
	verb := &cobra.Command{Use: "test TOOL", RunE: func(c *cobra.Command, args []string) error {
		cases, err := c.Flags().GetString("cases")
		got = append(got, append(args, cases)...)
		return err
	}}
	verb.Flags().String("cases", "", "")
	root.AddCommand(verb)
	dir := t.TempDir()
	run := casesOf(root, dir, "x.wasm")
	if err := run(t.Context()); err != nil || got != nil {
		t.Errorf("without cases: %q, %v", got, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "cases"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context()); err != nil || strings.Join(got, " ") != "./x.wasm "+filepath.Join(dir, "cases") {
		t.Errorf("with cases: %q, %v", got, err)
	}
}
