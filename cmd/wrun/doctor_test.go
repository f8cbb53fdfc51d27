package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDoctorEndsThoughADiskDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		defer close(let)
		var out bytes.Buffer
		a := &app{out: &out, errOut: &out}
		began := time.Now()
		err := a.doctor(context.Background(), []check{
			{"disk", func(*app, context.Context) finding { <-let; return fine("") }},
			{"rest", func(*app, context.Context) finding { return fine("") }},
		})
		if err == nil || !strings.Contains(out.String(), "fail  disk         no answer within 2s") || !strings.Contains(out.String(), "warn  rest") {
			t.Errorf("%v\n%s", err, out.String())
		}
		if took := time.Since(began); took != doctorTime {
			t.Errorf("it took %s", took)
		}
	})
}

func TestTheClockIsHeldAgainstTheLastEntry(t *testing.T) {
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		now  time.Time
		last int64
		want health
	}{
		{now, 0, healthy},
		{now, now.Add(-time.Hour).UnixNano(), healthy},
		{now, now.Add(clockSlack).UnixNano(), healthy},
		{now, now.Add(time.Hour).UnixNano(), warning},
		{time.Unix(0, 0), 0, failing},
	} {
		if got := clockFinding(c.now, c.last); got.health != c.want {
			t.Errorf("at %s with a last entry of %d: %+v, want %s", c.now, c.last, got, c.want)
		}
	}
}
