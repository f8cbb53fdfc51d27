package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/runtime"
)

// typeShown lets somebody type what the command has just told them to: it runs the one line of what the last command said that
// holds a command of wrun which matches as a whole: types EXIT REGEXP.
func typeShown(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: types EXIT REGEXP")
	}
	line, err := offered(ts.ReadFile("stdout")+ts.ReadFile("stderr"), args[1])
	ts.Check(err)
	ts.Logf("> %s", line)
	exitsWith(ts, neg, []string{args[0], "sh", "-c", line})
}

// offered returns the command that is shown once and matches.
func offered(said, pattern string) (string, error) {
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return "", err
	}
	found := map[string]bool{}
	for line := range strings.Lines(said) {
		if _, command, ok := strings.Cut(strings.TrimSpace(line), "wrun "); ok && re.MatchString("wrun "+command) {
			found["wrun "+command] = true
		}
	}
	for command := range found {
		if len(found) == 1 {
			return command, nil
		}
	}
	return "", fmt.Errorf("%d commands like %s are shown, want 1", len(found), pattern)
}

// finishedRuns makes so many runs of the journal that are done: runs N TOOL.wasm NAME INPUT.
func finishedRuns(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	wasm, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	h, err := wrun.Open(context.Background(), wrun.Config{
		Journal: ts.Getenv("WRUN_JOURNAL"), Create: true, Cache: ts.Getenv("WRUN_CACHE"),
		Drivers: map[string]runtime.DriverInfo{call.Name: call.Driver()},
	})
	ts.Check(err)
	defer func() { ts.Check(h.Close()) }()
	m, err := h.AddModule(wasm)
	ts.Check(err)
	spec := runtime.Spec{
		Driver: call.Name, Version: call.Version, Plan: []byte(m.Name + "." + args[2]), Input: []byte(args[3]), Modules: []runtime.Module{m},
	}
	for i := range n {
		_, err := h.Run(context.Background(), fmt.Sprintf("%s-%04d", m.Manifest.Name, i+1), spec, runtime.DriveOptions{})
		ts.Check(err)
	}
}
