package interleave_test

import (
	"testing"

	"github.com/wrun-dev/wrun/internal/explore/interleave"
)

func TestInterleavingsKeepThePromises(t *testing.T) {
	rep := interleave.Explore(t, interleave.Config{Seed: 1, Runs: 3000})
	if err := rep.Err(); err != nil {
		t.Fatal(rep)
	}
	t.Log(rep)
}
