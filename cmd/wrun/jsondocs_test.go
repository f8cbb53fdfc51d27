package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// fieldRow is a row of a table of docs/json.md.
type fieldRow struct {
	kind  string // its type
	shape string // of its objects, or ""
	rare  bool   // another test makes it
	seen  bool
	by    string // the test that makes what is rare
}

// fieldTables are the tables of the page: of verbs, and of shapes, by name. Verbs that share a table share the rows.
type fieldTables struct {
	verbs, shapes map[string]map[string]*fieldRow
}

var (
	fieldName = regexp.MustCompile("`([^`]+)`")
	shapeName = regexp.MustCompile(`^\*?\[([a-z]+)\]\(#`)
	rareMark  = regexp.MustCompile(`\(rare: ([^ ]+) (Test[A-Za-z]*)(?:/([a-z_]+))?\)`)
)

func readFieldTables(t *testing.T) fieldTables {
	t.Helper()
	f, err := os.Open("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tables := fieldTables{map[string]map[string]*fieldRow{}, map[string]map[string]*fieldRow{}}
	into, table := tables.verbs, map[string]*fieldRow(nil)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "## Shapes" {
			into = tables.shapes
		}
		if names, ok := strings.CutPrefix(line, "### "); ok {
			table = map[string]*fieldRow{}
			for _, name := range strings.Split(names, ", ") {
				into[name] = table
			}
		}
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) < 3 || table == nil || cells[0] == "| field" {
			continue
		}
		row := fieldRow{kind: cells[1]}
		if m := shapeName.FindStringSubmatch(cells[1]); m != nil {
			row.shape, row.kind = m[1], "object"
		}
		if m := rareMark.FindStringSubmatch(line); m != nil {
			row.rare, row.by = true, m[2]
			if wrong := madeBy(m[1], m[2], m[3]); wrong != "" {
				t.Errorf("docs/json.md: %s: %s", line, wrong)
			}
		}
		if m := shapeName.FindStringSubmatch(strings.TrimPrefix(cells[0], "| ")); m != nil {
			table["*"] = &fieldRow{shape: m[1]} // the fields of a shape, in the object itself
			continue
		}
		for _, m := range fieldName.FindAllStringSubmatch(cells[0], -1) {
			r := row
			table[m[1]] = &r
		}
	}
	return tables
}

// madeBy says that there is no such test, or no such script of it.
func madeBy(dir, test, script string) string {
	files, _ := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	found := slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+test+"(")
	})
	if _, err := os.Stat(filepath.Join("testdata", script+".txtar")); !found || script != "" && errors.Is(err, fs.ErrNotExist) {
		return "there is no such test"
	}
	return ""
}

// holdLines holds the lines that scripts have written against docs/json.md: each field is there under its verb, with its type; and when
// all scripts were run, each field that the page has was written.
func holdLines(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || t.Failed() {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	tables := readFieldTables(t)
	wrong := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var w written
		var object map[string]any
		if err := errors.Join(json.Unmarshal([]byte(line), &w), json.Unmarshal(w.Line, &object)); err != nil {
			t.Fatal(err)
		}
		table := tables.verbs[w.Verb]
		if table == nil {
			wrong["there is no section about "+w.Verb] = true
			continue
		}
		tables.hold(table, "", object, func(path, what string) { wrong[w.Verb+": `"+path+"` "+what] = true })
	}
	all := flag.Lookup("test.run").Value.String()
	if len(wrong) == 0 && (all == "" || strings.TrimSuffix(all, "$") == "TestScripts") && flag.Lookup("test.skip").Value.String() == "" {
		tables.unseen(wrong)
	}
	for what := range wrong {
		t.Errorf("docs/json.md: %s", what)
	}
}

// hold holds an object against a table; prefix is where it is in the object that the table is about.
func (f fieldTables) hold(table map[string]*fieldRow, prefix string, object map[string]any, wrong func(path, what string)) {
	for name, value := range object {
		path := prefix + name
		row := table[path]
		if shared := table["*"]; row == nil && shared != nil {
			row = f.shapes[shared.shape][path]
		}
		if row == nil {
			wrong(path, "is not on the page")
			continue
		}
		row.seen = true
		if !isOfKind(value, row.kind) {
			wrong(path, "is said to be of the type "+row.kind+", and is not")
		}
		if row.kind == "any" || row.kind == "object by key" {
			continue
		}
		values, path := []any{value}, path+"."
		if list, ok := value.([]any); ok {
			values, path = list, strings.TrimSuffix(path, ".")+"[]."
		}
		for _, v := range values {
			if o, ok := v.(map[string]any); ok && row.shape != "" {
				f.hold(f.shapes[row.shape], "", o, wrong)
			} else if ok {
				f.hold(table, path, o, wrong)
			}
		}
	}
}

func isOfKind(v any, kind string) bool {
	first, _, _ := strings.Cut(kind, " ")
	switch v.(type) {
	case nil:
		return kind == "any" || strings.HasSuffix(kind, "or null")
	case string:
		return slices.Contains([]string{"text", "time", "digest", "any"}, first)
	case bool:
		return first == "bool" || first == "any"
	case float64:
		return first == "number" || first == "any"
	case []any:
		return first == "list" || first == "any"
	}
	return first == "object" || first == "any"
}

// unseen finds the fields that were not written, and are not marked as rare.
func (f fieldTables) unseen(wrong map[string]bool) {
	for _, tables := range []map[string]map[string]*fieldRow{f.verbs, f.shapes} {
		for name, table := range tables {
			for path, row := range table {
				if path != "*" && !row.seen && !row.rare {
					wrong[name+": `"+path+"` was written by no script; say which test makes it, (rare: DIR TEST), or take it away"] = true
				}
			}
		}
	}
}

// TestLinesThatNoScriptMakes holds against the page what takes too much to bring about.
func TestLinesThatNoScriptMakes(t *testing.T) {
	h, err := wrun.Open(t.Context(), wrun.Config{Journal: filepath.Join(t.TempDir(), "journal.db"), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	tables := readFieldTables(t)
	for verb, line := range map[string]any{
		"ls":    runLine(h, &journal.State{Run: "r", Crashes: 1}),
		"log":   map[string]any{"writes": writeLines([]journal.Write{{Space: "s", Key: "k", Value: []byte("v")}, {Space: "s", Key: "k", Delete: true}})},
		"test":  resultLine{Logs: []string{"said"}},
		"inbox": (&app{}).itemLine(runtime.Item{Run: "r", Step: "s/1", Need: runtime.NeedVerdict, Why: "why"}),
		"show":  map[string]any{"cost_unknown": "why", "artifacts": artifactLines([]runtime.Artifact{{Missing: true, Name: "n"}})},
	} {
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		tables.hold(tables.verbs[verb], "", object, func(path, what string) { t.Errorf("%s: %s %s", verb, path, what) })
	}
}

// TestTheScreensAsJSON holds the runs of TestScreens, their steps and what waits in them against the page, which says of some fields that only
// these lines have them.
func TestTheScreensAsJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	writeRuns(t, path)
	tables := readFieldTables(t)
	hold := func(verb string, args ...string) (objects []map[string]any) {
		said, _, err := shownIn(t, path, append(args, "--json")...)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(said) {
			var object map[string]any
			if err := json.Unmarshal([]byte(line), &object); err != nil {
				t.Fatal(err)
			}
			tables.hold(tables.verbs[verb], "", object, func(path, what string) { t.Errorf("%s: %s %s", verb, path, what) })
			objects = append(objects, object)
		}
		return objects
	}
	hold("inbox", "inbox")
	for _, run := range hold("ls", "ls") {
		id := run["run"].(string)
		for _, step := range hold("show", "show", id)[0]["step_list"].([]any) {
			hold("show --step", "show", id, "--step", step.(map[string]any)["step"].(string))
		}
	}
	for verb, table := range tables.verbs {
		for field, row := range table {
			if row.by == "TestTheScreensAsJSON" && !row.seen {
				t.Errorf("%s: `%s` is in none of these lines", verb, field)
			}
		}
	}
}
