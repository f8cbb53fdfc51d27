package toolpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Texts takes README.md and LICENSE out of the directory of a tool, and the licences that its vendor directory has. What is not
// there is left empty.
func (p *Package) Texts(dir string) (err error) {
	if p.Readme, err = text(dir, readmeName); err != nil {
		return err
	}
	for _, name := range []string{licenseName, "LICENSE.md", "LICENSE.txt", "COPYING"} {
		if p.License, err = text(dir, name); err != nil || len(p.License) > 0 {
			break
		}
	}
	if err != nil {
		return err
	}
	p.ThirdParty, err = vendored(os.DirFS(dir))
	return err
}

// text reads a file of a directory, nil where there is none.
func text(dir, name string) ([]byte, error) {
	b, err := Text(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Text reads a text that goes into a package.
func Text(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxText+1))
	if err == nil && len(b) > MaxText {
		err = fmt.Errorf("%s has more than %d bytes, which is too long for a package", file, MaxText)
	}
	return b, err
}

// vendored joins the licences below vendor, each under its path.
func vendored(dir fs.FS) ([]byte, error) {
	var paths []string
	err := fs.WalkDir(dir, "vendor", func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && file == "vendor" {
			return nil
		}
		if err == nil && d.Type().IsRegular() && isLicence(path.Base(file)) {
			paths = append(paths, file)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var b bytes.Buffer
	for _, file := range paths {
		text, err := fs.ReadFile(dir, file)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "== %s\n\n%s\n", strings.TrimPrefix(file, "vendor/"), text)
	}
	return b.Bytes(), nil
}

func isLicence(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, func(l string) bool { return strings.HasPrefix(name, l) }) &&
		!strings.HasSuffix(name, ".GO")
}
