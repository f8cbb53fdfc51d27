package faults

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A crash image is what a disk may hold after a crash: everything that was synced, and of what was not any part. This is the model
// of ALICE (Pillai and others, OSDI 2014): a file system may lose or keep each write, truncation and change of a directory that no
// sync has covered, in any order, and may tear the last write.

// file is a file of the model: its length, and its bytes up to the last one that was ever written. Behind them are zeros.
type file struct {
	size    int64
	content []byte
}

func (f *file) apply(o op) {
	end := o.at + int64(len(o.data))
	if o.kind == "truncate" {
		f.size = o.at
		f.content = f.content[:min(f.size, int64(len(f.content)))]
		return
	}
	f.size = max(f.size, end)
	if n := int(end) - len(f.content); n > 0 {
		f.content = append(f.content, make([]byte, n)...)
	}
	copy(f.content[o.at:], o.data)
}

func (f *file) equal(g *file) bool { return f.size == g.size && bytes.Equal(f.content, g.content) }

// pending is a change that no sync has covered yet. of is the file that it is about, nil for a directory.
type pending struct {
	op
	of *file
}

// model is a disk.
type model struct {
	names   map[string]*file // what directories hold, on the disk; nil for a directory
	now     map[string]*file // the same as the processes see it
	pending []pending
}

// newModel begins with what is in a directory.
func newModel(dir string) (*model, error) {
	m := &model{names: map[string]*file{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			m.names[path] = nil
			return err
		}
		b, err := os.ReadFile(path)
		m.names[path] = &file{int64(len(b)), b}
		return err
	})
	m.now = maps.Clone(m.names)
	return m, err
}

// step takes a change of the trace.
func (m *model) step(o op) {
	p := pending{op: o, of: m.now[o.path]}
	switch o.kind {
	case "ack":
		return
	case "sync":
		m.sync(o.path)
		return
	case "lost":
		m.lose(p.of)
		return
	case "create":
		if _, there := m.now[o.path]; there {
			return
		}
		p.of = new(file)
		m.now[o.path] = p.of
	case "mkdir":
		m.now[o.path] = nil
	case "unlink":
		delete(m.now, o.path)
	case "rename":
		m.now[o.to] = p.of
		delete(m.now, o.path)
	}
	m.pending = append(m.pending, p)
}

// sync makes what is pending of a file or of a directory last.
func (m *model) sync(path string) {
	f := m.now[path]
	rest := m.pending[:0]
	for _, p := range m.pending {
		data := p.kind == "write" || p.kind == "truncate"
		switch {
		case data && f != nil && p.of == f:
			p.of.apply(p.op)
		case !data && f == nil && (filepath.Dir(p.path) == path || p.to != "" && filepath.Dir(p.to) == path):
			m.name(m.names, p)
		default:
			rest = append(rest, p)
		}
	}
	m.pending = rest
}

// lose is a sync that fails: what it was to write is marked as written and never is (Rebello and others, ATC 2020).
func (m *model) lose(f *file) {
	if f != nil {
		m.pending = slices.DeleteFunc(m.pending, func(p pending) bool { return p.kind == "write" && p.of == f })
	}
}

// name lets a change of a directory take place.
func (m *model) name(names map[string]*file, p pending) {
	switch p.kind {
	case "create", "mkdir":
		names[p.path] = p.of
	case "unlink":
		delete(names, p.path)
	case "rename":
		delete(names, p.path)
		names[p.to] = p.of
	}
}

// image returns the files of the disk where of what is pending only some have reached it, and of the last of these perhaps no more
// than torn bytes, -1 for all.
func (m *model) image(keep func(i int) bool, torn int) map[string]*file {
	names, contents := maps.Clone(m.names), map[*file]*file{}
	last := len(m.pending) - 1
	for i, p := range m.pending {
		if !keep(i) {
			continue
		}
		if p.kind != "write" && p.kind != "truncate" {
			m.name(names, p)
			continue
		}
		f := contents[p.of]
		if f == nil {
			f = &file{p.of.size, bytes.Clone(p.of.content)}
			contents[p.of] = f
		}
		if i == last && torn >= 0 {
			p.data = p.data[:torn]
		}
		f.apply(p.op)
	}
	out := map[string]*file{}
	for path, f := range names {
		switch changed := contents[f]; {
		case f == nil || !reachable(names, path):
		case changed != nil:
			out[path] = changed
		default:
			out[path] = &file{f.size, bytes.Clone(f.content)}
		}
	}
	return out
}

// reachable says whether the directories above a path are there. The first of them is not in the model when it was there before.
func reachable(names map[string]*file, path string) bool {
	for dir := filepath.Dir(path); strings.Contains(dir, imageDir); dir = filepath.Dir(dir) {
		if f, ok := names[dir]; !ok || f != nil {
			return false
		}
	}
	return true
}

// imageDir is the name of the directory that is traced, which the writer makes.
const imageDir = "traced-state"

// sector is what disks write as a whole, in bytes.
const sector = 512

const (
	exhaustive = 6  // of so many last changes every subset is an image
	randomly   = 24 // of longer windows so many subsets besides
)

// images yields every image of the disk as it is, until f says no.
func (m *model) images(r *rand.Rand, f func(image map[string]*file, torn int) bool) bool {
	n := len(m.pending)
	k := min(n, exhaustive)
	for mask := range 1 << k {
		if !f(m.image(func(i int) bool { return i < n-k || mask&(1<<(i-(n-k))) != 0 }, -1), -1) {
			return false
		}
	}
	if n > k {
		for range randomly {
			kept := r.Uint64()
			if !f(m.image(func(i int) bool { return kept&(1<<(i%64)) != 0 }, -1), -1) {
				return false
			}
		}
	}
	if n == 0 || m.pending[n-1].kind != "write" {
		return true
	}
	length := len(m.pending[n-1].data)
	var tears []int
	for at := 64; at < min(sector, length); at += 64 {
		tears = append(tears, at)
	}
	for at := sector; at < length; at += sector {
		tears = append(tears, at)
	}
	for _, at := range tears {
		if !f(m.image(func(int) bool { return true }, at), at) {
			return false
		}
	}
	return true
}
