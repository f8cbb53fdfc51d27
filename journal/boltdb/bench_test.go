package boltdb_test

import (
	"fmt"
	"sync/atomic"
	"testing"

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
