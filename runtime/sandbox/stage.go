package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// errNotTaken is the cause of a context that has ended before it is used, which keeps a compiler from compiling.
var errNotTaken = errors.New("the compiled code is not for this process: it was made for another processor, or by another version of the compiler")

// take verifies a file of the cache and takes its code, and does not compile: errNotTaken says that the file is for another
// processor or made by another compiler.
func (c *codeCache) take(ctx context.Context, e *engine, f form, file codeFile) (wazero.CompiledModule, error) {
	hide, err := c.show(file)
	if err != nil {
		return nil, err
	}
	defer hide()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	cancel(errNotTaken)
	ctx = experimental.WithCompilationWorkers(ctx, 2) // with one worker the compiler does not look at the context
	return e.compile(ctx, f.shown())
}

// compileNew compiles a module, by the command if there is one. Without one, a cache that cannot be written is got around.
func (s *Sandbox) compileNew(ctx context.Context, e *engine, f form) (wazero.CompiledModule, error) {
	if s.cache == nil {
		return compileHere(ctx, e, f.whole)
	}
	file, err := s.stage(ctx, f)
	if err == nil {
		var compiled wazero.CompiledModule
		if compiled, err = s.cache.take(ctx, e, f, file); err == nil {
			return compiled, nil
		}
	}
	if errors.Is(err, errNoCode) || len(s.cfg.Compiler) == 0 && errors.Is(err, ErrCache) {
		return compileHere(ctx, e, f.whole)
	}
	return nil, err
}

// compileHere compiles a module in this process, and to its end, since what it comes to is good for the next call.
func compileHere(ctx context.Context, e *engine, code []byte) (wazero.CompiledModule, error) {
	ctx = withWorkers(context.WithoutCancel(ctx))
	compiled, err := e.compile(ctx, code)
	if errors.Is(err, ErrCache) { // the view cannot be written; the code is in memory by the second attempt
		compiled, err = e.compile(ctx, code)
	}
	return compiled, err
}

// stage compiles a module into the cache, under the budget if there is a command for it.
func (s *Sandbox) stage(ctx context.Context, f form) (codeFile, error) {
	dir, err := s.cache.staging()
	if err != nil {
		return codeFile{}, err
	}
	defer os.RemoveAll(dir)
	var m made
	if len(s.cfg.Compiler) > 0 {
		m, err = s.command(ctx, dir, f)
	} else {
		m, err = compileInto(context.WithoutCancel(ctx), dir, f)
	}
	if err != nil {
		return codeFile{}, err
	}
	return s.cache.adopt(f.digest, dir, m)
}

// errNoCode says that this kind of machine has no compiler: modules are interpreted, and there is nothing to keep.
var errNoCode = errors.New("modules are interpreted here")

// made is what came of a compilation: the path of the code below a directory, and another name by which it is asked for than its
// own there, if any.
type made struct{ file, key string }

// compileInto compiles a module into a directory that is empty. For the name that goes with the hollow module, that is compiled
// too, which takes some microseconds for each function.
func compileInto(ctx context.Context, dir string, f form) (m made, err error) {
	if m.file, err = compileFile(ctx, dir, f.whole); err != nil || f.hollow == nil {
		return m, err
	}
	hollow, err := compileFile(ctx, filepath.Join(dir, "hollow"), f.hollow)
	if err != nil {
		return m, fmt.Errorf("compile the hollow module: %w", err)
	}
	m.key = filepath.Base(hollow)
	return m, nil
}

// compileFile compiles a module and returns the path of the one file that is two levels below the directory then.
func compileFile(ctx context.Context, dir string, code []byte) (string, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrCache, err)
	}
	defer cache.Close(ctx)
	e := newCompiler(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache))
	defer e.runtime.Close(ctx)
	if _, err := e.compile(withWorkers(ctx), code); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", errNoCode
	}
	return filepath.Rel(dir, files[0])
}

func withWorkers(ctx context.Context) context.Context {
	return experimental.WithCompilationWorkers(ctx, min(runtime.GOMAXPROCS(0), 4))
}
