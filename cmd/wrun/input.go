package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// argument returns what an argument stands for: the content of a file for @FILE, standard input for -, else itself.
func (a *app) argument(arg string) ([]byte, error) {
	switch {
	case arg == "-":
		return readBounded(a.in, "standard input")
	case strings.HasPrefix(arg, "@"):
		return readFile(arg[1:])
	}
	return []byte(arg), nil
}

// readFile reads a regular file of at most toolabi.MaxInput bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fileError(fmt.Errorf("%s is not a regular file", path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(err)
	}
	defer f.Close()
	return readBounded(f, path)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, toolabi.MaxInput+1))
	if err != nil {
		return nil, fileError(fmt.Errorf("read %s: %w", name, err))
	}
	if len(b) > toolabi.MaxInput {
		return nil, fileError(fmt.Errorf("%s has more than %d bytes", name, toolabi.MaxInput))
	}
	return b, nil
}

func fileError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return &codedError{codeFile, err}
}

// jsonInput returns an input argument, which has to be JSON; none means an empty object.
func (a *app) jsonInput(arg string) ([]byte, error) {
	if arg == "" {
		return []byte("{}"), nil
	}
	b, err := a.argument(arg)
	if err != nil {
		return nil, err
	}
	if !json.Valid(b) {
		var any any
		err := json.Unmarshal(b, &any)
		if err == nil {
			err = errors.New("not JSON")
		}
		return nil, &codedError{codeInput, fmt.Errorf("the input is not JSON: %w; give JSON, @FILE or - for standard input", err)}
	}
	return b, nil
}
