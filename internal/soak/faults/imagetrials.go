package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
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

// The trials of crash images: a writer is traced, and every image of images.go is laid out, opened and judged.

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
