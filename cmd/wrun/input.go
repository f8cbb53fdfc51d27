package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// argument returns what an argument stands for: the content of a file for @FILE, standard input for -, else itself.
func (a *app) argument(ctx context.Context, arg string) ([]byte, error) {
	return a.argumentOf(ctx, arg, toolabi.MaxInput)
}

func (a *app) argumentOf(ctx context.Context, arg string, most int) ([]byte, error) {
	switch {
	case arg == "-":
		return a.readInput(ctx, most)
	case strings.HasPrefix(arg, "@"):
		return readFileOf(arg[1:], most)
	}
	return []byte(arg), nil
}

// readInput reads standard input, until a signal comes.
func (a *app) readInput(ctx context.Context, most int) ([]byte, error) {
	type content struct {
		b   []byte
		err error
	}
	got := make(chan content, 1)
	go func() { // ends with the process at the latest: a read of standard input cannot be broken off
		b, err := readBounded(a.in, "standard input", most)
		got <- content{b, err}
	}()
	select {
	case c := <-got:
		return c.b, c.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readFile reads a regular file of at most toolabi.MaxInput bytes.
func readFile(path string) ([]byte, error) { return readFileOf(path, toolabi.MaxInput) }

func readFileOf(path string, most int) ([]byte, error) {
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
	return readBounded(f, path, most)
}

func readBounded(r io.Reader, name string, most int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, fileError(fmt.Errorf("read %s: %w", name, err))
	}
	if len(b) > most {
		return nil, fileError(fmt.Errorf("%s has more than %d bytes", name, most))
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

// jsonInput returns an input argument, which has to be JSON.
func (a *app) jsonInput(ctx context.Context, arg string) ([]byte, error) {
	b, err := a.argument(ctx, arg)
	if err != nil {
		return nil, err
	}
	if err := runtime.CheckJSON(nil, b); err != nil {
		return nil, &codedError{codeInput, fmt.Errorf("the input is not JSON that can be used: %w; give JSON, @FILE or - for standard input", err)}
	}
	return b, nil
}
