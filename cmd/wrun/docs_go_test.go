//go:build unix

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// judgeGo says what is wrong with a program, or with declarations or statements out of one: they are parsed and have their types
// checked. What a piece does not declare itself is taken to be declared elsewhere; what it says about packages has to be so.
func judgeGo(text string) string {
	exported, err := exportData()
	if err != nil {
		return err.Error()
	}
	fset := token.NewFileSet()
	f, err := parseGo(fset, text, exported)
	if err != nil {
		return err.Error()
	}
	whole := strings.HasPrefix(strings.TrimSpace(text), "package ") || strings.Contains(text, "\npackage ")
	var wrong []error
	c := types.Config{
		Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
			if file := exported[path]; file != "" {
				return os.Open(file)
			}
			return nil, fmt.Errorf("nothing here uses the package %s", path)
		}),
		Error: func(err error) {
			if whole || !elsewhere.MatchString(err.Error()) {
				wrong = append(wrong, err)
			}
		},
	}
	_, _ = c.Check("page", fset, []*ast.File{f}, nil) // its errors are told as they are found
	if len(wrong) > 0 {
		return errors.Join(wrong...).Error()
	}
	return ""
}

// elsewhere are the complaints that what surrounds a piece would take away.
var elsewhere = regexp.MustCompile(`: (undefined: \w+$|declared and not used|"[^"]*" imported and not used|missing return)`)

// parseGo reads a file, declarations or statements.
func parseGo(fset *token.FileSet, text string, exported map[string]string) (*ast.File, error) {
	f, err := parser.ParseFile(fset, "block.go", text, parser.SkipObjectResolution)
	if err == nil {
		return f, nil
	}
	head := "package page\n\n" + imports(text, exported)
	for _, piece := range []string{text, "func _() {\n" + text + "\n}"} {
		var pieceErr error
		if f, pieceErr = parser.ParseFile(fset, "block.go", head+piece, parser.SkipObjectResolution); pieceErr == nil {
			return f, nil
		}
		err = errors.Join(err, pieceErr)
	}
	return nil, fmt.Errorf("neither a file, nor declarations, nor statements: %w", err)
}

var qualifier = regexp.MustCompile(`\b([a-z]\w*)\.[A-Z]`)

// imports imports what a piece seems to use: of packages with one name ours, and then the shortest path.
func imports(text string, exported map[string]string) string {
	var lines []string
	for _, m := range qualifier.FindAllStringSubmatch(text, -1) {
		var found []string
		for pkg := range exported {
			if path.Base(pkg) == m[1] && !strings.Contains(pkg, "internal/") && !strings.HasPrefix(pkg, "vendor/") {
				found = append(found, pkg)
			}
		}
		slices.SortFunc(found, func(a, b string) int {
			if ours := strings.HasPrefix(a, "github.com/wrun-dev/"); ours != strings.HasPrefix(b, "github.com/wrun-dev/") {
				return map[bool]int{true: -1, false: 1}[ours]
			}
			return len(a) - len(b)
		})
		if len(found) > 0 {
			lines = append(lines, fmt.Sprintf("import %q\n", found[0]))
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

// exportData has, for each package that tools and programs here are made of, a file with the types of what it exports.
var exportData = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		"github.com/wrun-dev/wrun", "github.com/wrun-dev/wrun/sdk/sdktest", "github.com/wrun-dev/wrun/drivers/...", "github.com/wrun-dev/wrun/policy").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		pkg, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[pkg] = file
	}
	return files, nil
})
