package main

import (
	"maps"
	"math"
	"slices"
	"time"
)

// durations counts how long things took in buckets that grow by a sixteenth, so that it takes the same room for any number of them. The
// zero value has counted none.
type durations struct {
	n       uint64
	buckets map[int]uint64 // of each exponent of bucketGrowth
}

const bucketGrowth = 1 + 1./16

func (d *durations) add(t time.Duration) {
	if d.buckets == nil {
		d.buckets = map[int]uint64{}
	}
	d.n++
	d.buckets[int(math.Log(float64(max(t, 1)))/math.Log(bucketGrowth))]++
}

// quantile is the least duration that a part of them, between 0 and 1, did not exceed: within a thirtieth of it. 0 where there are none.
func (d *durations) quantile(part float64) time.Duration {
	left := max(uint64(math.Ceil(part*float64(d.n))), 1)
	for _, exponent := range slices.Sorted(maps.Keys(d.buckets)) {
		if d.buckets[exponent] >= left {
			return time.Duration(min(math.Pow(bucketGrowth, float64(exponent)+0.5), 1<<62))
		}
		left -= d.buckets[exponent]
	}
	return 0
}

// rough is a duration with as many digits as quantile knows.
func rough(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit).String()
}
