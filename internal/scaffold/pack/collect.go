package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// wrun is the module of the SDK. A tool requires it as version v0.0.0, which is nowhere but in its vendor directory.
const (
	wrun        = "github.com/wrun-dev/wrun"
	wrunVersion = "v0.0.0"
)

// roots are the packages that a tool and its tests import.
var roots = []string{wrun + "/sdk/...", wrun + "/toolabi"}

// licences are the beginnings of the names of files that have to go along with sources.
var licences = []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS", "AUTHORS"}

// module is what go list says of a module, and its packages that are needed.
type module struct {
	Path, Version, Dir, GoVersion string

	packages map[string]string // directories by import paths
}

// collect returns the files of the archive by their paths.
func collect() (map[string][]byte, error) {
	modules := map[string]*module{}
	for _, target := range []string{"wasip1/wasm", "linux/amd64"} { // a tool is built for the one and tested on others
		if err := list(modules, target); err != nil {
			return nil, err
		}
	}
	files := map[string][]byte{}
	for _, m := range modules {
		if err := m.read(files); err != nil {
			return nil, err
		}
	}
	sorted := slices.SortedFunc(maps.Values(modules), func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	files["vendor/modules.txt"] = modulesTxt(sorted)
	files["go.mod"] = goMod(sorted)
	return files, nil
}

// list adds the packages that the roots are made of when they are built for the target.
func list(modules map[string]*module, target string) error {
	goos, goarch, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,ImportPath,Standard,Module"}, roots...)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir, ImportPath string
			Standard        bool
			Module          *module
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the output of go list: %w", err)
		}
		if p.Standard {
			continue
		}
		m := modules[p.Module.Path]
		if m == nil {
			m = p.Module
			m.packages = map[string]string{}
			modules[m.Path] = m
		}
		m.packages[p.ImportPath] = p.Dir
	}
}

// read reads the sources of a module's packages, for whatever platform they are, without their tests, and its licences.
func (m *module) read(files map[string][]byte) error {
	if m.Path == wrun {
		m.Version = wrunVersion
	}
	found := 0
	take := func(dir, as string, want func(name string) bool) (taken int, err error) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !want(e.Name()) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return taken, err
			}
			files["vendor/"+as+"/"+e.Name()] = b
			taken++
		}
		return taken, nil
	}
	for path, dir := range m.packages {
		if _, err := take(dir, path, func(name string) bool { return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") }); err != nil {
			return err
		}
	}
	found, err := take(m.Dir, m.Path, func(name string) bool {
		return slices.ContainsFunc(licences, func(l string) bool { return strings.HasPrefix(strings.ToUpper(name), l) })
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("%s has no licence", m.Path)
	}
	return err
}

// modulesTxt is vendor/modules.txt, as go mod vendor writes it and every use of the vendor directory checks it.
func modulesTxt(modules []*module) []byte {
	var b bytes.Buffer
	for _, m := range modules {
		fmt.Fprintf(&b, "# %s %s\n## explicit; go %s\n", m.Path, m.Version, m.GoVersion)
		for _, path := range slices.Sorted(maps.Keys(m.packages)) {
			fmt.Fprintln(&b, path)
		}
	}
	return b.Bytes()
}

// goMod is the go.mod of a tool whose module path is NAME.
func goMod(modules []*module) []byte {
	var b bytes.Buffer
	var others []string
	for _, m := range modules {
		if m.Path == wrun {
			fmt.Fprintf(&b, "module NAME\n\ngo %s\n\nrequire %s %s\n", m.GoVersion, m.Path, m.Version)
			continue
		}
		others = append(others, fmt.Sprintf("\t%s %s // indirect\n", m.Path, m.Version))
	}
	fmt.Fprintf(&b, "\nrequire (\n%s)\n", strings.Join(others, ""))
	return b.Bytes()
}
