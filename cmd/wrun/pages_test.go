package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// holdPart holds what stands between two marks of a page against text, or puts it there with -update-pages.
func holdPart(t *testing.T, page, name, text string) {
	t.Helper()
	path := filepath.Join("../../docs", page)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	before, rest, ok1 := strings.Cut(string(b), begin)
	is, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok1 || !ok2:
		t.Errorf("%s has no part %q", page, name)
	case is == text:
	case flag.Lookup("update-pages").Value.String() == "true":
		if err := os.WriteFile(path, []byte(before+begin+text+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not say what the sources say; go test ./cmd/wrun -run %s -update-pages writes it", page, t.Name())
	}
}

// cell is a text in a table of Markdown.
func cell(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "|", `\|`) }

func TestTheConfigurationPageHasEveryFlag(t *testing.T) {
	type known struct {
		flag  *pflag.Flag
		verbs []string
	}
	flags := map[string]*known{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value, about := pflag.UnquoteUsage(f)
			key := f.Name + "\x00" + value + "\x00" + about
			if flags[key] == nil {
				flags[key] = &known{flag: f}
			}
			if !slices.Contains(flags[key].verbs, "all") {
				flags[key].verbs = append(flags[key].verbs, map[bool]string{true: "all", false: strings.TrimPrefix(c.CommandPath(), "wrun ")}[!c.HasParent()])
			}
		})
		for _, sub := range shownVerbs(c) {
			walk(sub)
		}
	}
	walk(newRoot(&app{}))
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		value, about := pflag.UnquoteUsage(flags[key].flag)
		name := strings.TrimSpace("--" + flags[key].flag.Name + " " + value)
		if short := flags[key].flag.Shorthand; short != "" {
			name = "-" + short + ", " + name
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", name, strings.Join(flags[key].verbs, ", "), cell(about))
	}
	holdPart(t, "configuration.md", "flags", text.String())
}

// readers are where the environment is read.
var readers = []string{".", "../../internal/toolbuild"}

func TestTheConfigurationPageHasEveryVariable(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]string{}
	for _, dir := range readers {
		readVariables(t, dir, read)
	}
	if len(read) < 10 {
		t.Errorf("only %d variables were found in the sources", len(read))
	}
	for _, v := range environment {
		if !strings.Contains(string(page), "| `"+v.name+"` |") {
			t.Errorf("docs/configuration.md has no row for %s", v.name)
		}
	}
	for name, where := range read {
		if !slices.ContainsFunc(environment, func(v variable) bool { return v.name == name }) {
			t.Errorf("%s reads %s, which is not among the variables of environment.go", where, name)
		}
	}
}

// readVariables finds the names that are given to os.Getenv, os.LookupEnv and isSet, as literals or as constants of the package.
func readVariables(t *testing.T, dir string, read map[string]string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	var files []*ast.File
	set := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					if text, ok := literal(spec.Values[i]); ok {
						constants[name.Name] = text
					}
				}
			}
			return true
		})
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !readsEnvironment(call.Fun) {
				return true
			}
			name, ok := literal(call.Args[0])
			if id, is := call.Args[0].(*ast.Ident); is && !ok {
				name, ok = constants[id.Name]
			}
			at := set.Position(call.Pos())
			switch {
			case ok:
				read[name] = at.String()
			case !slices.Contains([]string{"environment.go", "configshow.go", "doctorhere.go", "telemetry.go"}, filepath.Base(at.Filename)):
				t.Errorf("%s reads a variable whose name this test cannot tell", at)
			}
			return true
		})
	}
}

func readsEnvironment(f ast.Expr) bool {
	if s, ok := f.(*ast.SelectorExpr); ok {
		pkg, ok := s.X.(*ast.Ident)
		return ok && pkg.Name == "os" && (s.Sel.Name == "Getenv" || s.Sel.Name == "LookupEnv")
	}
	id, ok := f.(*ast.Ident)
	return ok && id.Name == "isSet"
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
