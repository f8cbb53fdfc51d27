package boltdb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

func BenchmarkAppend(b *testing.B) {
	j := create(b, b.TempDir())
	if err := j.Append(b.Context(), "r", 0, created()); err != nil {
		b.Fatal(err)
	}
	for at := uint64(1); b.Loop(); at++ {
		if err := j.Append(b.Context(), "r", at, record("x")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendParallel has 16 runs append at once, and reports how many appends shared a commit.
func BenchmarkAppendParallel(b *testing.B) {
	j := create(b, b.TempDir())
	var runs atomic.Int64
	b.SetParallelism(8) // of two processors
	before := j.Commits()
	b.RunParallel(func(pb *testing.PB) {
		run := fmt.Sprint("run-", runs.Add(1))
		e := created()
		for at := uint64(0); pb.Next(); at++ {
			if err := j.Append(b.Context(), run, at, e); err != nil {
				b.Error(err)
				return
			}
			e = record("x")
		}
	})
	b.ReportMetric(float64(b.N)/float64(j.Commits()-before), "appends/commit")
}

// BenchmarkPutAndName stores a blob and appends an entry that names it: what pins cost shows in comparison with -tags broken_nopins.
func BenchmarkPutAndName(b *testing.B) {
	j := create(b, b.TempDir())
	if err := j.Append(b.Context(), "r", 0, created()); err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 100_000)
	for at := uint64(1); b.Loop(); at++ {
		binary.LittleEndian.PutUint64(body, at)
		e := record("x")
		var err error
		if e.Blob, e.Size, err = j.Put(b.Context(), bytes.NewReader(body)); err != nil {
			b.Fatal(err)
		}
		if err := j.Append(b.Context(), "r", at, e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenClose(b *testing.B) {
	dir := b.TempDir()
	path := create(b, dir).Path()
	for b.Loop() {
		j, err := boltdb.Open(b.Context(), path, boltdb.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCopies copies a journal of 100,000 small entries in 1,000 runs, and says what an entry takes.
func BenchmarkCopies(b *testing.B) {
	j := create(b, b.TempDir())
	const runs, each = 1000, 100
	for run := range runs {
		es := []journal.Entry{created()}
		for len(es) < each {
			e := record("x")
			e.Body = []byte("a body of an entry that is as long as many are: a hundred bytes or so, of JSON or of something like it")
			es = append(es, e)
		}
		if err := j.Append(b.Context(), fmt.Sprint("run-", run), 0, es...); err != nil {
			b.Fatal(err)
		}
	}
	var backup bytes.Buffer
	for _, c := range []struct {
		what string
		do   func() error
	}{
		{"backup", func() error {
			backup.Reset()
			_, err := j.Backup(b.Context(), &backup, boltdb.CopyOptions{})
			return err
		}},
		{"compact", func() error { _, err := j.Compact(b.Context(), boltdb.CopyOptions{}); return err }},
		{"restore", func() error {
			_, err := boltdb.Restore(b.Context(), filepath.Join(b.TempDir(), "journal.db"), bytes.NewReader(backup.Bytes()), boltdb.RestoreOptions{})
			return err
		}},
	} {
		b.Run(c.what, func(b *testing.B) {
			for b.Loop() {
				if err := c.do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(runs*each), "ns/entry")
		})
	}
}
