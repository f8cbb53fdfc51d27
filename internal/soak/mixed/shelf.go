package mixed

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// shelf has the bytes of all modules. Its methods may be called concurrently.
type shelf struct {
	dir   string            // a directory for what the modules work with
	cache string            // of compiled code
	tools map[string][]byte // those written with the SDK, by name; not changed once there are calls

	mu      sync.Mutex
	modules map[toolabi.Digest][]byte // guarded by mu
}

func newShelf(dir string) (*shelf, error) {
	cache, err := wasmtest.CodeCacheDir()
	return &shelf{dir: dir, cache: cache, tools: map[string][]byte{}, modules: map[toolabi.Digest][]byte{}}, err
}

// add puts a module on the shelf.
func (s *shelf) add(wasm []byte) *toolabi.Digest {
	d := toolabi.DigestOf(wasm)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modules[d] = wasm
	return &d
}

// remove takes modules away that nobody will ask for again.
func (s *shelf) remove(digests ...toolabi.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range digests {
		delete(s.modules, d)
	}
}

// tool builds a tool that is written with the SDK.
func (s *shelf) tool(name, dir string) (*toolabi.Digest, error) {
	wasm, err := wasmtest.MakeTool(dir)
	if err != nil {
		return nil, err
	}
	s.tools[name] = wasm
	return s.add(wasm), nil
}

// source is a sandbox's.
func (s *shelf) source(_ context.Context, d toolabi.Digest) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wasm, ok := s.modules[d]; ok {
		return wasm, nil
	}
	return nil, fmt.Errorf("no module %s: %w", d.Short(), os.ErrNotExist)
}
