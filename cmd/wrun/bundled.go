package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const modulePath = "github.com/wrun-dev/wrun"

// sources returns the directory of wrun's own sources: of the checkout that the command is used in, else of the one that
// it was built from. Bundled tools are built from there when they are needed.
func sources() (string, error) {
	dir, err := os.Getwd()
	if err == nil {
		for d := dir; ; d = filepath.Dir(d) {
			if isSources(d) {
				return d, nil
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		if d := filepath.Dir(filepath.Dir(filepath.Dir(file))); isSources(d) {
			return d, nil
		}
	}
	return "", &codedError{codeBuild, errors.New("the bundled tools are built from wrun's sources, and those are not here: use the command in a checkout of " + modulePath)}
}

// isSources says whether a directory holds the module.
func isSources(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	return s.Scan() && strings.TrimSpace(s.Text()) == "module "+modulePath
}
