package tooltest

import (
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// Config says how modules are compiled; see sandbox.Config.
type Config struct {
	Cache    string
	Compiler []string
}

// Bench is a module that cases are run against. It may be used concurrently.
type Bench struct {
	module runtime.Module
	wasm   []byte
	box    *sandbox.Sandbox
	other  *sandbox.Sandbox // draws other randomness while the module starts
}

// New compiles a module that sandbox.Inspect took. The caller closes what it returns. Errors: *sandbox.LoadError.
func New(ctx context.Context, m *sandbox.Module, cfg Config) (*Bench, error) {
	b := &Bench{module: runtime.Module{Name: m.Manifest.Name, Digest: m.Digest, Manifest: *m.Manifest}, wasm: m.Bytes()}
	for i, box := range []**sandbox.Sandbox{&b.box, &b.other} {
		s, err := sandbox.New(ctx, sandbox.Config{
			Source: func(context.Context, toolabi.Digest) ([]byte, error) {
				return nil, errors.New("only the module under test is known")
			},
			CacheDir: cfg.Cache, Compiler: cfg.Compiler, Seed: [32]byte{byte(i + 1)},
		})
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		s.Add(m)
		*box = s
	}
	if err := b.box.Prepare(ctx, m.Digest); err != nil {
		return nil, errors.Join(fmt.Errorf("compile: %w", err), b.Close())
	}
	return b, nil
}

// Close frees the sandboxes.
func (b *Bench) Close() error {
	var errs []error
	for _, s := range []*sandbox.Sandbox{b.box, b.other} {
		if s != nil {
			errs = append(errs, s.Close(context.Background()))
		}
	}
	return errors.Join(errs...)
}

// Manifest is the module's.
func (b *Bench) Manifest() *toolabi.Manifest { return &b.module.Manifest }
