package sandbox

import (
	"os"
	"path/filepath"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// reading is a module that was read: all of it, or all but its code, which was read and compiled before.
type reading struct {
	parsed *wasm.Module
	caps   wasm.Caps
	known  *judgement // what stands for the code, nil where it was read
}

// read reads a module with this digest. The error is a *LoadError.
func read(module []byte, digest toolabi.Digest, caps wasm.Caps, known judgements) (*reading, error) {
	if j := known.find(digest); j != nil {
		if b, err := wasm.ParseOutline(module, caps, j.facts); err == nil {
			return &reading{b, caps, j}, nil
		}
	}
	b, err := parse(module, caps)
	return &reading{parsed: b, caps: caps}, err
}

// whole returns the module with its code. The error is a *LoadError.
func (r *reading) whole() (*wasm.Module, error) {
	if r.known == nil {
		return r.parsed, nil
	}
	return parse(r.parsed.Bytes(), r.caps)
}

// lookAtJudgements returns those of a cache that may not be there, or not be the user's alone: then there are none.
func lookAtJudgements(dir string, caps wasm.Caps) judgements {
	if dir == "" {
		return judgements{}
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return judgements{}
	}
	info, err := os.Stat(root)
	if err != nil || checkPrivate(root, info) != nil {
		return judgements{}
	}
	return judgementsIn(root, caps)
}

// Add makes a module known that Inspect or InspectCached took, so that Source is not asked for it and it is not read again when
// it is first used. One that they refused, or that was judged by other caps than Config.Caps, is had from Source all the same.
func (s *Sandbox) Add(m *Module) {
	if m.read == nil || m.read.caps != s.cfg.Caps {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modules[m.Digest] == nil {
		s.added[m.Digest] = m
	}
}

// addedModule hands over a module that was added.
func (s *Sandbox) addedModule(d toolabi.Digest) *Module {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.added[d]
	delete(s.added, d)
	return m
}
