package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// A damaging changes the bytes of a journal's file, of which so many pages were ever written, and returns what it did.
type damaging func(r *rand.Rand, b []byte, page, used int) ([]byte, string)

// flipBit is what a file does that rots.
func flipBit(r *rand.Rand, b []byte, page, used int) ([]byte, string) {
	at := r.IntN(used * page)
	if r.IntN(2) == 0 { // in what is about a run, of which there is less than of what no page holds any more
		near := fmt.Appendf(nil, "d%d", r.IntN(sampleRuns))
		if i := bytes.Index(b[at:used*page], near); i >= 0 {
			at = min(at+i+r.IntN(200), used*page-1)
		}
	}
	b[at] ^= 1 << r.IntN(8)
	return b, fmt.Sprintf("a bit of byte %d flipped", at)
}

func cutOff(r *rand.Rand, b []byte, page, used int) ([]byte, string) {
	n := r.IntN(used * page)
	switch r.IntN(3) {
	case 0:
		n -= n % page
	case 1:
		n -= n % sector
	}
	return b[:n], fmt.Sprintf("cut off after %d bytes", n)
}

func spoilPage(r *rand.Rand, b []byte, page, used int) ([]byte, string) {
	i, j := r.IntN(used), r.IntN(used)
	p, q := b[i*page:(i+1)*page], b[j*page:(j+1)*page]
	switch r.IntN(4) {
	case 0:
		clear(p)
		return b, fmt.Sprintf("page %d zeroed", i)
	case 1:
		copy(p, q)
		return b, fmt.Sprintf("page %d overwritten with %d", i, j)
	case 2:
		old := bytes.Clone(p)
		copy(p, q)
		copy(q, old)
		return b, fmt.Sprintf("pages %d and %d swapped", i, j)
	}
	half := page / 2
	copy(p[half:], q[half:])
	return b, fmt.Sprintf("half of page %d overwritten with %d", i, j)
}

// realEvery: of so many trials one is looked at with the real program as well, and half of those in which something is wrong.
const realEvery = 10

// damages damages a journal of finished and cut off runs. What is wrong has to be found, or has to be harmless.
func damages(one, two int, spoil damaging) func(*tier, context.Context, *Row) error {
	return func(t *tier, ctx context.Context, row *Row) error {
		n := t.number(one, two)
		var benches sync.Map // by bench: its sample
		return t.each(ctx, row, func(i int) bool { return i >= n }, func(ctx context.Context, b *bench, i int, r *rand.Rand) error {
			made, ok := benches.Load(b)
			if !ok {
				s, err := b.sample(ctx)
				if err != nil {
					return fmt.Errorf("a journal to damage: %w", err)
				}
				made = s
				benches.Store(b, s)
			}
			return b.damage(ctx, row, made.(*sample), i, r, spoil)
		})
	}
}

// sample is a journal that is whole.
type sample struct {
	dir, journal string
	bytes        []byte
	used         int // pages
	heads        map[string]journal.Digest
	said         []string // what wrun says to the questions, in their order
}

// questions are what the real program is asked about a damaged journal, and answers as before or not at all.
var questions = [][]string{{"--json", "ls"}, {"--json", "show", "d0"}, {"--json", "log", "d0"}, {"--json", "resume", "d1"}}

// sampleRuns is how many runs it has. The last of them was cut off.
const sampleRuns = 6

func (b *bench) sample(ctx context.Context) (*sample, error) {
	s := &sample{dir: filepath.Join(b.dir, "sample")}
	s.journal = filepath.Join(s.dir, "journal.db")
	for i := range sampleRuns {
		t := b.trial(kindDamage, s.journal, "mixed", fmt.Sprint("d", i))
		if i == sampleRuns-1 {
			for after := b.whole / 2; len(t.log) == 0; after = after * 5 / 4 { // until it dies late enough
				if _, err := t.do(ctx, after, nil, t.begin()...); err != nil {
					return nil, err
				}
			}
			continue
		}
		if err := t.finish(ctx); err != nil {
			return nil, err
		}
	}
	var err error
	if s.bytes, err = os.ReadFile(s.journal); err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	for s.used = len(s.bytes) / page; s.used > 0 && len(bytes.Trim(s.bytes[(s.used-1)*page:s.used*page], "\x00")) == 0; s.used-- {
	}
	var found error
	if s.heads, found = readAll(ctx, s.journal); found != nil {
		return nil, found
	}
	for _, args := range questions {
		exit, err := b.program(s.journal).Run(ctx, args...)
		if err != nil {
			return nil, err
		}
		s.said = append(s.said, exit.Stdout)
	}
	return s, nil
}

// readAll reads a journal and verifies it. It returns the ends of its logs, or what is wrong.
func readAll(ctx context.Context, path string) (map[string]journal.Digest, error) {
	j, err := boltdb.Open(ctx, path, boltdb.Options{})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	for fault := range journal.Verify(ctx, j) {
		err = errors.Join(err, fault)
	}
	heads := map[string]journal.Digest{}
	for s, lerr := range j.List(ctx, journal.Query{}) {
		if lerr != nil {
			return nil, errors.Join(err, lerr)
		}
		heads[s.Run] = s.Head
	}
	return heads, err
}

// damage makes one trial.
func (b *bench) damage(ctx context.Context, row *Row, s *sample, i int, r *rand.Rand, spoil damaging) error {
	spoiled, name := spoil(r, bytes.Clone(s.bytes), os.Getpagesize(), s.used)
	if err := os.WriteFile(s.journal, spoiled, 0o600); err != nil {
		return err
	}
	l := left{journal: s.journal, damaged: true}
	heads, err := readAll(ctx, s.journal)
	switch {
	case err == nil:
		l.silent = !maps.Equal(heads, s.heads)
	case !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrForeign) && !errors.Is(err, journal.ErrNewer):
		l.damaged, l.refused = false, err
	}
	if i%realEvery == 0 || err != nil && i%2 == 0 {
		if err := b.look(ctx, &l, s); err != nil {
			return err
		}
	}
	landed := 0
	if !bytes.Equal(spoiled, s.bytes) {
		landed = 1
	}
	wrong := check(kindDamage, &l)
	row.add(fmt.Sprintf("trial %d of seed: %s", i, name), landed, nil, wrong)
	if len(wrong) > 0 {
		return os.WriteFile(filepath.Join(s.dir, fmt.Sprintf("trial-%d.db", i)), spoiled, 0o600)
	}
	return nil
}

// look lets the real program read and go on with a damaged journal. What it says of a run has to be what it said before, or an error.
func (b *bench) look(ctx context.Context, l *left, s *sample) error {
	p := b.program(s.journal)
	for i, args := range append(slices.Clone(questions), []string{"--json", "resume", fmt.Sprint("d", sampleRuns-1)}) {
		exit, err := p.Run(ctx, args...)
		if err != nil {
			return err
		}
		l.exits = append(l.exits, said{verb: verbOf(args), exit: exit})
		if i < len(s.said) && exit.Code == exitOK && exit.Stdout != s.said[i] {
			l.silent = true
		}
	}
	return nil
}
