package interleave

import (
	"math"
	"math/bits"

	"github.com/wrun-dev/wrun/journal"
)

// Counts estimates how many different logs and states were seen.
type Counts struct {
	Logs, States sketch
}

// sketch is a HyperLogLog of 2^14 buckets: the most leading zeros of the hashes in each. Two of them add up, and the
// error is about one in a hundred.
type sketch [1 << 14]uint8

func (s *sketch) add(hash uint64) {
	hash ^= hash >> 33
	hash *= 0xff51afd7ed558ccd
	hash ^= hash >> 33
	hash *= 0xc4ceb9fe1a85ec53
	hash ^= hash >> 33
	i := hash >> 50
	s[i] = max(s[i], uint8(bits.LeadingZeros64(hash<<14|1<<13))+1)
}

func (s *sketch) merge(o *sketch) {
	for i := range s {
		s[i] = max(s[i], o[i])
	}
}

func (s *sketch) estimate() uint64 {
	sum, empty := 0.0, 0
	for _, r := range s {
		sum += math.Pow(2, -float64(r))
		if r == 0 {
			empty++
		}
	}
	m := float64(len(s))
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e < 2.5*m && empty > 0 {
		e = m * math.Log(m/float64(empty))
	}
	return uint64(e)
}

const (
	fnvStart = 14695981039346656037
	fnvPrime = 1099511628211
)

func hashByte(h uint64, b byte) uint64 { return (h ^ uint64(b)) * fnvPrime }

func hashString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = hashByte(h, s[i])
	}
	return hashByte(h, 0xff)
}

// hashEntry adds an entry to the hash of a log, without what differs from one log to the next like it: times, keys, who.
func hashEntry(h uint64, e journal.Entry) uint64 {
	if e.Seq == 0 {
		h = fnvStart
	}
	for _, b := range [...]byte{byte(e.Kind), byte(e.Outcome), byte(e.Effect), byte(e.OnCut)} {
		h = hashByte(h, b)
	}
	return hashString(hashString(h, string(e.Step)), e.Name)
}

// state counts the state that a trial is in: its log, what everybody is about to do, and what has happened outside.
func (c *Counts) state(t *trial) {
	if c == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.logHash
	sum := uint64(0)
	for _, w := range t.waiters { // in whatever order
		sum += hashString(hashByte(hashString(fnvStart, w.step), byte(w.at)), w.p.name[:2])
	}
	for _, m := range t.world.net {
		one := hashString(fnvStart, m.op)
		if m.acted {
			one++
		}
		sum += one * fnvPrime
	}
	for range 8 {
		h = hashByte(h, byte(sum))
		sum >>= 8
	}
	c.States.add(hashByte(h, byte(t.world.total)))
}
