package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// exitMemory is the exit code of a compiler that used more memory than it may.
const exitMemory = 3

// CompilerMain is the other side of Config.Compiler, for the main of a process that does nothing else: it takes the module
// from stdin, with another behind it that has all but its code, compiles both into the directory that args name and answers on
// stdout. args are the arguments that the command was started with beyond those of Config.Compiler. The caller writes the error
// to standard error and exits with a code that is neither 0 nor 3.
//
// It bounds the memory of the whole process and closes descriptors that the process has inherited beside the first three.
// The process ends, with code 1, when stdin ends before the module was compiled: then nobody is there to take it.
func CompilerMain(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) (err error) {
	if len(args) != 4 {
		return errors.New("this is how wrun starts its compiler: it wants a directory, a number of bytes of memory and the lengths of the module and of the hollow one on standard input")
	}
	memory, err := strconv.ParseUint(args[1], 10, 63)
	if err != nil {
		return fmt.Errorf("bytes of memory: %w", err)
	}
	var sizes [2]uint64
	for i := range sizes {
		if sizes[i], err = strconv.ParseUint(args[2+i], 10, 31); err != nil {
			return fmt.Errorf("length of a module: %w", err)
		}
	}
	if err := boundMemory(memory); err != nil {
		return fmt.Errorf("bound the memory: %w", err)
	}
	closeInherited()
	f := form{whole: make([]byte, sizes[0])}
	if sizes[1] > 0 {
		f.hollow = make([]byte, sizes[1])
	}
	for _, m := range [][]byte{f.whole, f.hollow} {
		if _, err := io.ReadFull(stdin, m); err != nil {
			return fmt.Errorf("read the module: %w", err)
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		os.Exit(1)
	}()
	r, err := compileReport(ctx, args[0], f)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(r)
}

// compileReport compiles a module into a directory and says what came of it.
func compileReport(ctx context.Context, dir string, f form) (r report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	made, err := compileInto(ctx, dir, f)
	var refused *LoadError
	var path *fs.PathError
	switch {
	case errors.Is(err, ErrCache) && errors.As(err, &path):
		return report{Unwritten: fmt.Sprintf("write to %s: %v", filepath.Dir(dir), path.Err)}, nil
	case errors.Is(err, errNoCode):
		return report{Interpreted: true}, nil
	case errors.As(err, &refused):
		return report{Malformed: refused.Err.Error()}, nil
	case err != nil:
		return report{}, err
	}
	return report{File: filepath.ToSlash(made.file), Key: made.key}, nil
}
