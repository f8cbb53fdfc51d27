package interleave

import "math/rand/v2"

// choices decides what happens. It draws from a seed and remembers what it drew, or it repeats what was drawn before. 0 is
// always the calmest choice, so that a sequence gets simpler when draws are set to 0 or left out.
type choices struct {
	rng   *rand.Rand // nil when it repeats
	given []uint16
	drawn []uint16
}

func fromSeed(seed uint64) *choices {
	return &choices{rng: rand.New(rand.NewPCG(seed, 0))}
}

func repeating(draws []uint16) *choices { return &choices{given: draws} }

// draw returns a number from 0 to n-1.
func (c *choices) draw(n int) int {
	d := 0
	switch i := len(c.drawn); {
	case c.rng != nil:
		d = c.rng.IntN(n)
	case i < len(c.given):
		d = min(int(c.given[i]), n-1)
	}
	c.drawn = append(c.drawn, uint16(d))
	return d
}

// chance says yes so often in a hundred.
func (c *choices) chance(percent int) bool { return c.draw(100) >= 100-percent }
