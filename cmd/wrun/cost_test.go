package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// askLong makes runs of an agent whose model answers at length, so that the answers lie in blobs.
func askLong(t *testing.T, journal string, ids ...string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	for name, text := range map[string]string{
		"a.yaml": "model: {use: scripted, script: s.yaml}\n",
		"s.yaml": "replies: [{say: \"${ .task * 20000 }\", usage: {input: 10, output: 5}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if _, _, err := shownIn(t, journal, "agent", filepath.Join(dir, "a.yaml"), "task "+id, "--id", id); err != nil {
			t.Fatal(err)
		}
	}
}

// What is damaged of one run keeps nobody from the costs of the others, and is not kept quiet about.
func TestTheCostOfAllRunsCountsThoseThatAreWhole(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal.db")
	askLong(t, journal, "a", "b", "c")
	blobs, err := filepath.Glob(filepath.Join(journal+".blobs", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for _, b := range blobs {
		if text, err := os.ReadFile(b); err == nil && strings.Contains(string(text), `"text":"task btask b`) {
			broken++
			if err := os.Remove(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if broken == 0 {
		t.Fatalf("there is no such blob among %d", len(blobs))
	}
	out, p, err := shownIn(t, journal, "cost", "--all", "--json")
	if err == nil || p.code.id != codeDamaged.id || !strings.Contains(out, `"paid":{"answers":2,`) {
		t.Errorf("cost --all says %s, and ends with %v", out, err)
	}
	if out, _, err := shownIn(t, journal, "show", "b"); err != nil || !strings.Contains(out, "what it cost is not known: ") {
		t.Errorf("show of the damaged run says %s, %v", out, err)
	}
}
