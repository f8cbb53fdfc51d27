package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
)

// caseFile is a file of cases.
type caseFile struct {
	path string
	*toolcase.File
}

// maxCaseData is how long a file may be that a world names, in bytes.
const maxCaseData = 16 << 20

// readCases reads a file of cases, or all of a directory. usual says that nobody named it.
func readCases(path string, usual bool) (files []caseFile, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && usual {
		return nil, noCases(path)
	}
	if err != nil {
		return nil, fileError(err)
	}
	paths := []string{path}
	if info.IsDir() {
		names, err := fs.Glob(os.DirFS(path), "*.yaml")
		if err != nil {
			return nil, fileError(err)
		}
		if len(names) == 0 {
			return nil, noCases(path)
		}
		paths = nil
		for _, name := range names {
			paths = append(paths, filepath.Join(path, name))
		}
	}
	var wrong []error
	for _, p := range paths {
		f, err := readCaseFile(p)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		files = append(files, caseFile{p, f})
	}
	if len(wrong) > 0 {
		return nil, &codedError{codeCases, errors.Join(wrong...)}
	}
	return files, nil
}

func noCases(path string) error {
	return &codedError{codeCases, fmt.Errorf(`there are no cases in %s; a file of them begins like this:

wrun_test: 1
cases:
- name: answers
  tool: NAME
  input: {}
  expect: {output: {}}`, path)}
}

func readCaseFile(path string) (*toolcase.File, error) {
	text, err := readFileOf(path, toolcase.MaxBytes)
	if err != nil {
		return nil, err
	}
	f, err := toolcase.Parse(text, filesBeside(path))
	if err == nil {
		return f, nil
	}
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") { // a mistake is one line
		lines = append(lines, path+": "+line)
	}
	return nil, errors.New(strings.Join(lines, "\n"))
}

// filesBeside reads what lies beside a file with a world, and below that.
func filesBeside(path string) world.Files {
	return func(name string) ([]byte, error) {
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer root.Close()
		info, err := root.Stat(filepath.FromSlash(name)) // before it is opened: a pipe would be waited for
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, errors.New("it is no regular file")
		}
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, maxCaseData+1))
		if err == nil && len(b) > maxCaseData {
			err = fmt.Errorf("it has more than %d bytes", maxCaseData)
		}
		return b, err
	}
}
