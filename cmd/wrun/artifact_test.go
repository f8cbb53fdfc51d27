package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// shownIn uses the command on a journal.
func shownIn(t *testing.T, journal string, args ...string) (stdout string, p problem, err error) {
	t.Helper()
	var out bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errOut: &bytes.Buffer{}}
	root := newRoot(a)
	root.SetArgs(append([]string{"--journal", journal}, args...))
	if err = root.ExecuteContext(t.Context()); err != nil {
		p = a.problem(err)
	}
	return out.String(), p, err
}

// keepReport makes a run r whose tool keeps a report.
func keepReport(t *testing.T, journal string) (report []byte) {
	t.Helper()
	h, err := wrun.Open(t.Context(), wrun.Config{
		Journal: journal, Create: true, Cache: wasmtest.CodeCache(t), Drivers: map[string]runtime.DriverInfo{call.Name: call.Driver()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	m, err := h.AddModule(wasmtest.Tool(t, "internal/wasmtest/guests/stores"))
	if err != nil {
		t.Fatal(err)
	}
	spec := runtime.Spec{
		Driver: call.Name, Version: call.Version, Plan: []byte("stores.tally"), Modules: []runtime.Module{m}, Input: []byte(`{"name":"a","lines":30000}`),
		Grants: hostfuncs.Grants{KV: []hostfuncs.KVGrant{{Store: "stores", Write: true}}, Artifacts: 1 << 20},
	}
	if _, err := h.Run(t.Context(), "r", spec, runtime.DriveOptions{}); err != nil {
		t.Fatal(err)
	}
	return bytes.Repeat([]byte("a 1\n"), 30000)
}

func TestShowListsAndWritesArtifacts(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal.db")
	report := keepReport(t, journal)
	digest := toolabi.DigestOf(report).String()
	out, _, err := shownIn(t, journal, "show", "r")
	if want := fmt.Sprintf("artifact %s  120000 bytes  call/7  a-1.txt\n", digest); err != nil || !strings.Contains(out, want) {
		t.Errorf("show says %s, %v, want %q in it", out, err, want)
	}
	out, _, err = shownIn(t, journal, "show", "r", "--json")
	var line struct {
		Artifacts []struct {
			Digest, Name, Step, Function string
			Size                         int
		}
	}
	if err := errors.Join(err, json.Unmarshal([]byte(out), &line)); err != nil || len(line.Artifacts) != 1 {
		t.Fatalf("show --json says %s, %v", out, err)
	}
	if got := line.Artifacts[0]; got.Digest != digest || got.Name != "a-1.txt" || got.Step != "call/7" || got.Function != "artifact_put" || got.Size != len(report) {
		t.Errorf("show --json says %+v", got)
	}
	if out, _, err = shownIn(t, journal, "show", "r", "--artifact", digest); err != nil || out != string(report) {
		t.Errorf("%d bytes are written, %v, want %d", len(out), err, len(report))
	}
	out, _, err = shownIn(t, journal, "log", "r", "--json")
	for _, want := range []string{
		`"refs":["` + digest + `"]`, `{"key":"a/own","replaces":0,"size":1,"space":"kv:stores"}`, `{"delete":true,"key":"a/gone","replaces":1,"space":"kv:stores"}`,
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("log --json says %s, %v, want %s in it", out, err, want)
		}
	}
	for arg, want := range map[string]code{
		toolabi.DigestOf([]byte("other")).String(): codeNoArtifact, strings.ToUpper(digest): codeUsage, digest[:12]: codeUsage, "": codeUsage, "../x": codeUsage,
	} {
		if out, p, err := shownIn(t, journal, "show", "r", "--artifact", arg); err == nil || p.code.id != want.id || out != "" {
			t.Errorf("--artifact %.20q: %s, %v, writes %d bytes, want %s", arg, p.code.id, err, len(out), want.id)
		}
	}
	if _, p, err := shownIn(t, journal, "show", "none", "--artifact", digest); err == nil || p.code.id != codeNoRun.id {
		t.Errorf("of no run: %s, %v", p.code.id, err)
	}
}

// An artifact that has changed or is gone is not written, not even its beginning, and the run can still be looked at.
func TestADamagedArtifactIsNotWritten(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal.db")
	digest := toolabi.DigestOf(keepReport(t, journal)).String()
	blob := filepath.Join(journal+".blobs", digest[:2], digest)
	if err := os.WriteFile(blob, bytes.Repeat([]byte("b"), 120000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"120000 bytes", "missing"} {
		if out, p, err := shownIn(t, journal, "show", "r", "--artifact", digest); err == nil || p.code.id != codeDamaged.id || out != "" {
			t.Errorf("%s, %v, writes %d bytes", p.code.id, err, len(out))
		}
		if out, _, err := shownIn(t, journal, "show", "r"); err != nil || !strings.Contains(out, digest+"  "+says) {
			t.Errorf("show says %s, %v, want %s", out, err, says)
		}
		if says != "missing" {
			if err := os.Remove(blob); err != nil {
				t.Fatal(err)
			}
		}
	}
}
