package sandbox

import (
	"math"
	"math/rand/v2"

	"crypto/sha256"

	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// initTime is what the clock shows while _initialize runs, in every call of every module: 2020-01-01 UTC.
	initTime = 1_577_836_800_000_000_000
	// initNanotime is where the monotonic clock begins; Go's runtime takes 0 for a failure.
	initNanotime = 1_000_000_000
)

// clock is the guest's time in nanoseconds. It stands still but for advance and moveTo.
type clock struct{ wall, mono int64 }

func newClock() clock { return clock{wall: initTime, mono: initNanotime} }

// advance moves both clocks forward; they stop at the end of time.
func (c *clock) advance(ns int64) {
	if ns > 0 {
		c.wall = addSaturated(c.wall, ns)
		c.mono = addSaturated(c.mono, ns)
	}
}

// moveTo moves the clocks forward until the wall clock shows at; it never moves them back.
func (c *clock) moveTo(at int64) {
	if at <= c.wall {
		return
	}
	step := at - c.wall
	if step < 0 { // further than a number reaches
		step = math.MaxInt64
	}
	c.mono = addSaturated(c.mono, step)
	c.wall = at
}

func addSaturated(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// randomness is an endless stream of bytes that its seed determines on every platform.
type randomness struct {
	seed   [32]byte
	drawn  bool // else the stream is not there yet
	stream rand.ChaCha8
}

// reseed begins the stream of another seed.
func (r *randomness) reseed(seed [32]byte) { r.seed, r.drawn = seed, false }

func (r *randomness) fill(b []byte) {
	if !r.drawn {
		r.stream.Seed(r.seed)
		r.drawn = true
	}
	_, _ = r.stream.Read(b) // which never fails
}

// initSeed is what _initialize sees of randomness: the same in every call of a module under one Config.Seed.
func initSeed(seed [32]byte, module toolabi.Digest) [32]byte {
	b := append([]byte("wrun initialize 1\n"), seed[:]...)
	return sha256.Sum256(append(b, module[:]...))
}
