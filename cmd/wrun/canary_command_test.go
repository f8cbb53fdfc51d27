package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// commandCase is a use of the real command: a call, and what is asked about its run afterwards.
type commandCase struct {
	kind, tool, secret string
	flags              []string
	then               [][]string
}

// The command itself, with a secret from each kind of source: what it writes to either stream, into its journal, its cache, its
// configuration and beside them holds no value. It is run in another process, as people run it.
func TestTheCanaryIsNotInWhatTheCommandWrites(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no cat for cmd:")
	}
	a, began := newUnopened(t), time.Now()
	module := filepath.Join(a.dir, "parrot.wasm")
	if err := os.WriteFile(module, wasmtest.Tool(t, "internal/wasmtest/guests/parrot"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CANARY", canaryValue)
	for i, c := range []commandCase{
		{kind: "json", tool: "again", secret: "env:CANARY", flags: []string{"-v", "--stats"}, then: [][]string{{"fork", "RUN", "--at", "call", "--yes", "--id", "RUN-copy"}, {"resume", "RUN-copy", "-v"}, {"rollback", "RUN"}}},
		{kind: "cut", tool: "once", secret: "file:" + a.source, flags: []string{"-v"}, then: [][]string{{"inbox"}, {"resume", "RUN", "--json"}, {"log", "RUN"}, {"explain", "CODE"}}},
		{kind: "error", tool: "once", secret: "cmd:cat " + a.source, flags: []string{"--json", "--stats"}},
	} {
		run := fmt.Sprintf("c%d", i)
		input, err := json.Marshal(order{Method: "POST", URL: a.server.URL + "/" + c.kind, Other: a.other.URL, Put: []string{"output", "log", "stderr", "kv", "elsewhere"}})
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"call", module, c.tool, string(input), "--id", run, "--secret", "key=" + c.secret + "@" + a.server.URL, "--allow-http", a.server.URL, "--allow-kv", "store"}
		out, err := a.command(append(args, c.flags...)...)
		if failed := err != nil; failed != (c.kind == "cut") {
			t.Errorf("%s: the call ended with %v: %s", c.kind, err, out)
		}
		if c.kind == "json" && !strings.Contains(out, "[secret:key]") {
			t.Errorf("%s: there is no mark: %s", c.kind, out)
		}
		a.absent("call, "+c.kind, told{output: out})
		_, code, _ := strings.Cut(out, "error[")
		code, _, _ = strings.Cut(code, "]")
		for _, args := range append(c.then, []string{"show", "RUN", "--json"}) {
			args = strings.Fields(strings.NewReplacer("RUN", run, "CODE", code).Replace(strings.Join(args, " ")))
			out, err := a.command(args...)
			a.absent("wrun "+strings.Join(args, " "), told{err: err, output: out})
		}
	}
	for _, file := range compiledSince(began, wasmtest.CodeCache(t)) {
		if b, err := os.ReadFile(file); err == nil && needlesOf(canaryCore).in(b) != "" {
			t.Errorf("the canary is in %s", file)
		}
	}
	if !a.server.sent(canaryValue) {
		t.Error("the server was never sent the secret")
	}
	input, _ := json.Marshal(order{Method: "POST", URL: a.server.URL + "/json", Plain: true, Put: []string{"output", "log"}})
	out, err := a.command("call", module, "again", string(input), "--id", "control", "--allow-http", a.server.URL, "-v")
	if n := needlesOf(controlCore); err != nil || n.in([]byte(out)) == "" || n.below(t, a.dir, nil) == nil {
		t.Errorf("the control is not told, or not written: %v, %s", err, out)
	}
}

// compiledSince returns what was written into a cache that other tests use, too, since a time.
func compiledSince(began time.Time, cache string) (files []string) {
	filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // another test may be removing it
		}
		if info, err := d.Info(); err == nil && !info.ModTime().Before(began) {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// Adding a tool with a secret, and granting one to every run: where it is found is written, in the configuration, the journal and
// the cache for compiled code, and what is found there is not.
func TestTheCanaryIsNotWrittenWhereItIsGranted(t *testing.T) {
	a := newUnopened(t)
	t.Setenv("CANARY", canaryValue)
	manifest := describe()
	manifest.Capabilities = []toolabi.Capability{{Name: toolabi.FuncHTTPSend, Reason: "to send", Targets: []string{"POST https://a.example"}, Secrets: []string{"key"}}}
	asks := new(wasmtest.Module)
	asks.Import(toolabi.ImportModule, toolabi.FuncHTTPSend, []byte{wasmtest.I32, wasmtest.I32}, []byte{wasmtest.I64})
	finish(asks, toolabi.ExportMarker)
	wasm, err := attach(asks.Bytes(), manifest)
	module := filepath.Join(a.dir, "small.wasm")
	if err != nil || os.WriteFile(module, wasm, 0o600) != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(a.dir, "cache")
	t.Setenv("WRUN_CACHE", cache)
	config := filepath.Join(a.dir, "wrun")
	name, tool := manifest.Name, manifest.Tools[0].Name
	source := "key=env:CANARY@https://a.example"
	use := func(what string, args ...string) string {
		out, err := a.command(args...)
		a.absent(what, told{err: err, output: out})
		return out
	}
	use("tool add, unasked", "tool", "add", module, "--secret", source)
	for _, args := range [][]string{
		{"tool", "add", module, "--secret", source, "--yes"}, {"tool", "ls"}, {"tool", "ls", "--json"}, {"tool", "inspect", name},
		{"call", name, tool, "{}", "--id", "one", "-v"}, {"show", "one"},
	} {
		if out := use(strings.Join(args, " "), args...); !strings.Contains(out, "env:CANARY") && (args[1] == "ls" || args[1] == "add" || args[0] == "show") {
			t.Errorf("%s: the source is not named: %s", args, out)
		}
	}
	if found := (needles{"source": []byte("env:CANARY")}).below(t, config, nil); found == nil {
		t.Error("the source is nowhere in the configuration, so that nothing of it was written there")
	}
	if found, err := filepath.Glob(filepath.Join(cache, "native*", "*", "*")); len(found) == 0 {
		t.Errorf("nothing was compiled into the cache that is searched: %v", err)
	}
	grants := filepath.Join(config, "grants.yaml")
	if err := os.WriteFile(grants, []byte("secret:\n  - "+source+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	use("grants.yaml", "call", module, tool, "{}", "--id", "two", "-v")
	if out := use("show two", "show", "two", "--json"); !strings.Contains(out, "env:CANARY") {
		t.Errorf("grants.yaml grants nothing: %s", out)
	}
	// Who writes the value where a source belongs is not shown it; the file itself is theirs.
	out, err := a.command("call", module, tool, "{}", "--id", "three", "--secret", "key="+canaryCore+"@https://a.example")
	if a.absent("a value for a source", told{err: err, output: out}); err == nil {
		t.Errorf("a value was taken for a source: %s", out)
	}
	if err := os.WriteFile(grants, []byte("secret:\n  - key="+canaryCore+"@https://a.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = a.command("call", module, tool, "{}", "--id", "four")
	if err == nil || needlesOf(canaryCore).in([]byte(out)) != "" {
		t.Errorf("a value in grants.yaml was taken, or is shown: %v, %s", err, out)
	}
	if err := os.Remove(grants); err != nil {
		t.Fatal(err)
	}
	a.absent("behind it", told{})
}
