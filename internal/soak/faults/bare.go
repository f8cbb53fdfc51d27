package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// bareRun is the run that the bare writer appends to.
const bareRun = "r"

// lookBare opens a journal that a bare writer has left, after acked was acknowledged, -1 for nothing, and gathers what there is to
// be judged.
func lookBare(ctx context.Context, path string, acked int) (l left) {
	l = left{journal: path, acked: acked}
	j, err := boltdb.Open(ctx, path, boltdb.Options{BusyTimeout: 20 * time.Second})
	if errors.Is(err, journal.ErrNoJournal) && acked < 0 {
		return l
	}
	if err != nil {
		l.refused = err
		return l
	}
	defer j.Close()
	l.counted = true
	for fault := range journal.Verify(ctx, j) {
		l.faults = append(l.faults, fault.Error())
	}
	for s, err := range j.List(ctx, journal.Query{Run: bareRun}) {
		if err != nil {
			l.faults = append(l.faults, err.Error())
			break
		}
		l.has = int(s.Len)
	}
	return l
}

// writer is a bare writer that runs.
type writer struct {
	cmd    *exec.Cmd
	acked  atomic.Int64
	stderr strings.Builder
	read   chan struct{} // closed when all that it says has been read
	reach  chan struct{} // closed when so much was acknowledged
}

// startWriter starts one. reach is how many acknowledgements close the channel of that name.
func startWriter(program, journal string, reach int, args ...string) (*writer, error) {
	w := &writer{cmd: exec.Command(program, append(args, journal)...), read: make(chan struct{}), reach: make(chan struct{})}
	w.acked.Store(-1)
	w.cmd.Stderr = &w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the writer: %w", err)
	}
	go func() {
		defer close(w.read)
		lines, seen := bufio.NewScanner(out), 0
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "ACK "); ok {
				if n, err := strconv.Atoi(n); err == nil {
					w.acked.Store(int64(n))
				}
				if seen++; seen == reach {
					close(w.reach)
				}
			}
		}
	}()
	return w, nil
}

// kill ends it and returns the last entry that it acknowledged.
func (w *writer) kill() int {
	_ = w.cmd.Process.Kill() // it may have ended by itself
	<-w.read
	_ = w.cmd.Wait() // likewise
	return int(w.acked.Load())
}

// maxOld is how long a log gets before the next journal is a fresh one.
const maxOld = 120

// bareCuts cuts the power of disks in the middle of what the bare writer does: of journals that are there already, and of those that
// are only being made. Every worker has a disk for itself.
func bareCuts(fs, options string, one, two int) func(*tier, context.Context, *Row) error {
	return func(t *tier, ctx context.Context, row *Row) error {
		n := t.number(one, two)
		return t.disks(ctx, fs, options, func(ctx context.Context, d *disk, worker int) error {
			r := rand.New(rand.NewPCG(t.Seed, uint64(worker)))
			dir, acked, cuts := "", -1, 0
			for !row.enough(n) && ctx.Err() == nil {
				if dir == "" {
					dir, acked = filepath.Join(d.dir, fmt.Sprint("state-", cuts)), -1
				}
				path := filepath.Join(dir, "journal.db")
				w, err := startWriter(t.programs.Writer, path, 1+r.IntN(12))
				if err != nil {
					return err
				}
				var after <-chan time.Time
				if r.IntN(2) == 0 { // else once so much was acknowledged
					after = time.After(time.Duration(r.Int64N(int64(40 * time.Millisecond))))
				}
				select {
				case <-w.reach:
				case <-after:
				case <-w.read:
				case <-ctx.Done():
				}
				err = d.cut()
				acked = max(acked, w.kill())
				cuts++
				if err = errors.Join(err, d.power()); err != nil {
					return err
				}
				l := lookBare(ctx, path, acked)
				row.add(fmt.Sprintf("cut %d of worker %d, %s %s, seed %d, after %d", cuts, worker, fs, options, t.Seed, acked), 1, nil, check(row.Kind, &l))
				if acked = max(acked, l.has-1); acked > maxOld || r.IntN(12) == 0 {
					if err := os.RemoveAll(dir); err != nil {
						return err
					}
					dir = ""
				}
			}
			return context.Cause(ctx)
		})
	}
}

// disks lets every worker work on a disk of its own.
func (t *tier) disks(ctx context.Context, fs, options string, work func(ctx context.Context, d *disk, worker int) error) error {
	dir, err := os.MkdirTemp(t.Fast, "disks-")
	if err != nil {
		return err
	}
	err = trials.Work(ctx, t.Workers, func(ctx context.Context, worker int) (err error) {
		d, err := newDisk(filepath.Join(dir, strconv.Itoa(worker)), fs, options)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.close()) }()
		return work(ctx, d, worker)
	})
	return errors.Join(err, os.RemoveAll(dir))
}
