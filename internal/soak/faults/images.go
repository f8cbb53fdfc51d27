package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/journal"
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

// shelf lays images out in a directory, one after the other, and changes no more than what differs.
type shelf struct {
	dir  string
	have map[string]*file
}

// put lays one out whose files are below from.
func (s *shelf) put(image map[string]*file, from string) error {
	for path := range s.have {
		if _, ok := image[path]; !ok {
			if err := os.Remove(s.at(path, from)); err != nil {
				return err
			}
		}
	}
	for path, content := range image {
		have, there := s.have[path]
		if there && have.equal(content) {
			continue
		}
		if err := s.write(s.at(path, from), have, content); err != nil {
			return err
		}
	}
	s.have = image
	return nil
}

func (s *shelf) at(path, from string) string { return s.dir + strings.TrimPrefix(path, from) }

// write makes a file what it is to be, page by page where it was something else.
func (s *shelf) write(path string, have, want *file) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if have == nil {
		have = new(file)
	}
	const page = 4096
	for at := 0; at < max(len(want.content), len(have.content)) && err == nil; at += page {
		if was, is := paged(have.content, at, page), paged(want.content, at, page); !bytes.Equal(was, is) {
			_, err = f.WriteAt(is, int64(at))
		}
	}
	return errors.Join(err, f.Truncate(want.size), f.Close())
}

// paged returns a page, with zeros behind the end.
func paged(b []byte, at, page int) []byte {
	if at+page <= len(b) {
		return b[at : at+page]
	}
	out := make([]byte, page)
	if at < len(b) {
		copy(out, b[at:])
	}
	return out
}

// crashImages rebuilds every image that a crash of a traced writer may leave, and opens each.
func (t *tier) crashImages(ctx context.Context, row *Row) error {
	if _, err := exec.LookPath("strace"); err != nil {
		return errSkip("there is no strace")
	}
	n := t.number(100_000, 1_000_000)
	dir, err := os.MkdirTemp(t.Fast, "images-")
	if err != nil {
		return err
	}
	var next atomic.Int64
	err = trials.Work(ctx, t.Workers, func(ctx context.Context, worker int) error {
		for !row.enough(n) && ctx.Err() == nil {
			seed := next.Add(1)
			if err := t.traced(ctx, row, filepath.Join(dir, strconv.FormatInt(seed, 10)), rand.New(rand.NewPCG(t.Seed, uint64(seed))), n); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	})
	if len(row.Found) > 0 {
		t.say("  what was left is in %s", dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// migrationImages does the same with writers that bring a journal of an older schema to the present one first. Its runs have to be
// in every image as they were.
func (t *tier) migrationImages(ctx context.Context, row *Row) error {
	if _, err := exec.LookPath("strace"); err != nil {
		return errSkip("there is no strace")
	}
	n := t.number(2000, 20_000)
	dir, err := os.MkdirTemp(t.Fast, "migrations-")
	if err != nil {
		return err
	}
	for seed := uint64(0); !row.enough(n) && ctx.Err() == nil && err == nil; seed++ {
		place := filepath.Join(dir, strconv.FormatUint(seed, 10))
		if err = oldJournal(ctx, filepath.Join(place, imageDir)); err == nil {
			err = t.traced(ctx, row, place, rand.New(rand.NewPCG(t.Seed, seed)), n)
		}
	}
	if len(row.Found) > 0 {
		t.say("  what was left is in %s", dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// oldJournal lays out the fixture of schema 1.
func oldJournal(ctx context.Context, dir string) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the fixtures: %w", err)
	}
	from := filepath.Join(strings.TrimSpace(string(root)), "testdata", "journals", "schema1")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return err
	}
	packed, err := os.Open(filepath.Join(from, "journal.db.gz"))
	if err != nil {
		return err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "journal.db"), b, 0o600)
}

// headsOf returns the ends of the logs of a journal but the bare writer's. The journal is copied first, since opening it may change it.
func headsOf(ctx context.Context, state, scratch string) (map[string]journal.Digest, error) {
	if err := errors.Join(os.RemoveAll(scratch), os.CopyFS(scratch, os.DirFS(state))); err != nil {
		return nil, err
	}
	heads, err := readAll(ctx, filepath.Join(scratch, "journal.db"))
	delete(heads, bareRun)
	return heads, err
}

// traced traces one writer and opens every image of it.
func (t *tier) traced(ctx context.Context, row *Row, dir string, r *rand.Rand, n int) error {
	state := filepath.Join(dir, imageDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var heads map[string]journal.Digest // of the runs that were there before; nil for a journal that is new
	if exists(state) {
		var err error
		if heads, err = headsOf(ctx, state, dir+".scratch"); err != nil {
			return fmt.Errorf("a journal of an older schema: %w", err)
		}
	}
	entries, size := 12+r.IntN(30), 1+r.IntN(9000)
	m, err := newModel(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(state, "journal.db")
	fails := 0
	if r.IntN(3) == 0 { // one of its syncs fails
		fails = 1 + r.IntN(2*entries)
	}
	ops, err := t.trace(ctx, dir, fails, "-n", strconv.Itoa(entries), "-size", strconv.Itoa(size), path)
	if err != nil {
		return err
	}
	s := &shelf{dir: filepath.Join(dir, "image")}
	seen, acked := map[uint64]bool{}, -1
	var failed error
	for i, o := range ops {
		if o.kind == "ack" {
			if _, err := fmt.Sscanf(string(o.data), "ACK %d\n", &acked); err != nil {
				return fmt.Errorf("the writer said %q", o.data)
			}
			seen = map[uint64]bool{} // what was right may be too old now
		}
		m.step(o)
		more := m.images(r, func(image map[string]*file, torn int) bool {
			maps.DeleteFunc(image, func(path string, _ *file) bool {
				return strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, ".wait")
			})
			sum := digestOf(image)
			if seen[sum] {
				return true
			}
			seen[sum] = true
			if failed = s.put(image, state); failed != nil {
				return false
			}
			l := lookBare(ctx, filepath.Join(s.dir, "journal.db"), acked)
			if heads != nil { // who opened it has changed it
				now, err := headsOf(ctx, s.dir, dir+".scratch")
				if err != nil || !maps.Equal(now, heads) {
					l.gone = append(l.gone, fmt.Sprintf("the runs that were there before are %d of %d, or other ones, %v", len(now), len(heads), err))
				}
				failed, s.have = errors.Join(failed, os.RemoveAll(s.dir)), nil
			}
			// Within a sector nothing is torn, by what disks say. Where it is, a page of bbolt's two headers may be, and is refused.
			if torn > 0 && torn < sector && errors.Is(l.refused, journal.ErrDamaged) {
				l.damaged = true
			}
			row.add(fmt.Sprintf("seed %d, %s, after change %d, %s of %s", t.Seed, dir, i, o.kind, filepath.Base(o.path)), 1, nil, check(kindImage, &l))
			return !row.enough(n) && ctx.Err() == nil
		})
		if failed != nil || !more {
			break
		}
	}
	if failed == nil && len(row.Found) == 0 {
		failed = os.RemoveAll(dir)
	}
	return failed
}

// trace runs the writer under strace, which lets the nth sync of data fail unless fails is 0, and returns what it did below a directory.
func (t *tier) trace(ctx context.Context, dir string, fails int, args ...string) ([]op, error) {
	out := filepath.Join(filepath.Dir(dir), filepath.Base(dir)+".trace")
	argv := slices.Concat(traceArgs, []string{"-o", out})
	if fails > 0 {
		argv = append(argv, "-e", fmt.Sprintf("inject=fdatasync:error=EIO:when=%d", fails))
	}
	argv = append(append(argv, t.programs.Writer), args...)
	if said, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil && fails == 0 {
		return nil, fmt.Errorf("trace the writer: %w: %s", err, said)
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, err
	}
	ops, err := parseTrace(f, dir)
	return ops, errors.Join(err, f.Close(), os.Remove(out))
}

// digestOf tells images apart.
func digestOf(image map[string]*file) uint64 {
	var h maphash.Hash
	h.SetSeed(imageSeed)
	for _, path := range slices.Sorted(maps.Keys(image)) {
		fmt.Fprintf(&h, "%s %d %d\n", path, image[path].size, len(image[path].content))
		h.Write(image[path].content)
	}
	return h.Sum64()
}

var imageSeed = maphash.MakeSeed()
