package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest/hostile"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// What is promised of every hostile module, and five times of which is held against it.
const (
	promisedTime   = time.Second           // until a module that ends or is refused has come to that
	promisedStop   = 50 * time.Millisecond // from the end of a call's time until it has ended
	promisedMemory = 64 << 20              // over what a sandbox that serves honest calls has, and the guest's own memory
	times          = 5
)

// The budget of a module whose harm is done while it is compiled.
const (
	compileTime   = 2 * time.Second
	compileMemory = 512 << 20
)

// TestHostileModules runs every one of them in a process of its own, whose peak of memory is its doing, and in which an
// honest module is called and memory collected all the while. Only what is measured may disagree twice: a busy machine can
// be late for something once, and what a module does it does each time. The third time what this machine takes to hand out pages
// is allowed besides.
func TestHostileModules(t *testing.T) {
	if raced {
		t.Skip("SKIPPED: the race detector takes the time and the memory that are measured here, and TestStress runs such modules with it")
	}
	for _, c := range hostile.Cases() {
		t.Run(c.Row+"/"+c.Name, func(t *testing.T) {
			for range 2 {
				if len(measured(c, runHostile(t, c), 0)) == 0 {
					return
				}
			}
			for _, problem := range measured(c, runHostile(t, c), fresh(t)) {
				t.Error(problem)
			}
		})
	}
}

// runHostile runs a case in a process of its own and holds what it came to against the case.
func runHostile(t *testing.T, c hostile.Case) hostileReport {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHostileChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), childCase+"="+c.Name, childReport+"="+file)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("the process that ran it: %v\n%s", err, firstLines(said.String(), 20))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r hostileReport
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	for _, results := range [][]hostileResult{r.Results, r.Kept} {
		for i, got := range results {
			checkResult(t, c, i, got)
		}
	}
	if !c.Compile && len(r.Kept) != len(r.Results) {
		t.Errorf("%d modules were run, and %d from a cache", len(r.Results), len(r.Kept))
	}
	if r.Honest == 0 || r.HonestErr != "" {
		t.Errorf("the honest module beside it was called %d times: %s", r.Honest, r.HonestErr)
	}
	if r.Goroutines > 0 || r.Files > 0 {
		t.Errorf("%d goroutines and %d open files are left", r.Goroutines, r.Files)
	}
	return r
}

func firstLines(s string, n int) string {
	lines := strings.SplitAfterN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}

// checkResult holds what a module came to against its case.
func checkResult(t *testing.T, c hostile.Case, i int, got hostileResult) {
	t.Helper()
	w := c.Want
	switch {
	case c.Compile && (got.Kind == sandbox.CompileBudget || got.Kind == sandbox.TooBig):
	case w.Refused && got.Kind != 0:
	case w.Refused, got.Kind != w.Load, got.Code != w.Code, got.Fault != w.Fault:
		t.Errorf("module %d came to %s", i, got)
	case got.Kind == 0 && got.Code == 0 && !got.Fault && got.Output != "{}":
		t.Errorf("module %d came to %s, want {}", i, got)
	}
	if !strings.Contains(got.Message, w.Says) || strings.Contains(got.Message, "\n") {
		t.Errorf("module %d: message is %q, want one line that says %q", i, got.Message, w.Says)
	}
	for _, inside := range []string{"wazero", ".go:", "goroutine"} {
		if strings.Contains(got.Message, inside) {
			t.Errorf("module %d: message shows the host's inside: %q", i, got.Message)
		}
	}
}

// measured holds times and memory against what is promised. A collection may take slow more: it waits while a guest gets its pages.
func measured(c hostile.Case, r hostileReport, slow time.Duration) (problems []string) {
	over := func(what string, got, bound any) {
		problems = append(problems, fmt.Sprintf("%s: %v, at most %v are allowed", what, got, bound))
	}
	time := times * promisedTime
	if c.Compile {
		time += times * compileTime
	}
	if c.Timeout != 0 {
		time = times * (c.Timeout + promisedStop)
	}
	for i, got := range r.Results {
		if got.Took > time {
			over(fmt.Sprintf("module %d", i), got.Took, time)
		}
	}
	if memory := int64(promisedMemory + hostile.Memory); r.Memory > memory {
		over("MB of memory", r.Memory>>20, memory>>20)
	}
	if bound := times*(promisedTurn+r.Calm) + slow; r.Collection > bound { // beside other work it takes long without any doing of a guest
		over("half of the collections of memory", r.Collection, bound)
	}
	return problems
}

// TestEveryRowOfHostileModules holds that each row has a case, or that what takes its place is there.
func TestEveryRowOfHostileModules(t *testing.T) {
	cases := map[string]int{}
	names, rows := map[string]bool{}, map[string]bool{}
	for _, c := range hostile.Cases() {
		cases[c.Row]++
		if names[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		names[c.Name] = true
	}
	for _, r := range hostile.Rows() {
		switch {
		case r.Instead == "" && cases[r.ID] == 0:
			t.Errorf("%s, %s: no case", r.ID, r.What)
		case r.Instead != "" && cases[r.Instead] == 0 && !testExists(t, r.Instead):
			t.Errorf("%s, %s: there is no %s", r.ID, r.What, r.Instead)
		}
		rows[r.ID] = true
	}
	for row := range cases {
		if !rows[row] {
			t.Errorf("there is no row %s", row)
		}
	}
	if len(names) < 60 {
		t.Errorf("%d cases", len(names))
	}
}

// testExists looks for a test, named as directory.TestName, in the sources.
func testExists(t *testing.T, name string) bool {
	t.Helper()
	dir, fn, _ := strings.Cut(name, ".")
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(fn) + `\(`).Match(b) {
			return true
		}
	}
	return false
}
