package mixed

import (
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// flat is a report of eight cycles in which everything was always the same.
func flat(idle time.Duration) *Report {
	r := &Report{Cycles: 8, idle: idle}
	same := sample{rss: 200 << 20, heap: 50 << 20, mappings: 300, descriptors: 20, goroutines: 10}
	r.start = same
	for c := range r.Cycles {
		for range enough {
			r.marks = append(r.marks, mark{c, "sixteen", same})
		}
		r.marks = append(r.marks, mark{c, phaseRest, same})
	}
	r.left(same, same)
	return r
}

func TestWhatHasGrownIsNamed(t *testing.T) {
	if err := flat(time.Minute).Err(); err != nil {
		t.Errorf("what is flat has grown: %v", err)
	}
	for _, tc := range []struct {
		grow func(m *sample)
		rest bool
		want string
	}{
		{func(m *sample) { m.rss += 30 << 20 }, true, "rest rss 200.0 MB then 230.0 MB"},
		{func(m *sample) { m.rss += 30 << 20 }, false, "sixteen rss 200.0 MB then 230.0 MB"},
		{func(m *sample) { m.heap += 10 << 20 }, true, "rest heap"},
		{func(m *sample) { m.heap += 20 << 20 }, false, "sixteen heap"},
		{func(m *sample) { m.mappings += 41 }, true, "rest mappings 300 then 341, at most 340"},
		{func(m *sample) { m.mappings += 80 }, false, "sixteen mappings"},
		{func(m *sample) { m.descriptors++ }, true, "rest descriptors 20 then 21, at most 20"},
		{func(m *sample) { m.descriptors += 5 }, false, "sixteen descriptors"},
		{func(m *sample) { m.goroutines++ }, true, "rest goroutines"},
		{func(m *sample) { m.goroutines += 4 }, false, "sixteen goroutines"},
	} {
		r := flat(time.Minute)
		for i := range r.marks {
			if m := &r.marks[i]; m.cycle >= 6 && (m.phase == phaseRest) == tc.rest {
				tc.grow(&m.sample)
			}
		}
		if err := r.Err(); err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("the judgement is %v, want %q and nothing else", err, tc.want)
		}
	}
}

func TestWhatIsKeptThroughALongIdleTimeIsNamed(t *testing.T) {
	for _, idle := range []time.Duration{time.Minute, time.Second} {
		r := flat(idle)
		r.start.rss -= 100 << 20
		err := r.Err()
		if named := err != nil && strings.Contains(err.Error(), "idle rss kept"); named != (idle == time.Minute) {
			t.Errorf("idle for %v: the judgement is %v", idle, err)
		}
	}
}

func TestWhatIsLeftAfterClosingIsNamed(t *testing.T) {
	r := flat(time.Minute)
	r.leftovers = nil
	r.left(sample{descriptors: 5, goroutines: 3}, sample{descriptors: 8, goroutines: 3})
	if err := r.Err(); err == nil || err.Error() != "closed descriptors 5 then 8, at most 7: GROWN" {
		t.Errorf("the judgement is %v", err)
	}
}

func TestACallThatComesToSomethingElseIsNamed(t *testing.T) {
	c := &caller{s: &soak{}}
	good := request{want: []byte(`"mine"`), tail: []byte("end")}
	first := toolabi.Outcome{Output: []byte(`"mine"`), Stderr: []byte("the end"), Fuel: 5}
	if ending, err := c.judge(kind{}, good, first, nil); ending != endOutput || err != nil {
		t.Fatalf("a call as it has to be came to %q, %v", ending, err)
	}
	trapped := toolabi.NewError(toolabi.Trapped, "unreachable")
	for name, tc := range map[string]struct {
		req request
		out toolabi.Outcome
		err error
	}{
		"another's output":  {req: good, out: toolabi.Outcome{Output: []byte(`"yours"`), Stderr: []byte("the end")}},
		"another's print":   {req: good, out: toolabi.Outcome{Output: []byte(`"mine"`), Stderr: []byte("yours")}},
		"an error":          {req: good, out: toolabi.Outcome{Err: trapped}},
		"no error":          {req: request{says: toolabi.Trapped}, out: first},
		"another error":     {req: request{says: toolabi.Exited}, out: toolabi.Outcome{Err: trapped}},
		"another's error":   {req: request{says: toolabi.Trapped, alsoSays: "mine"}, out: toolabi.Outcome{Err: trapped}},
		"killed by nobody":  {req: good, err: errKilled},
		"other fuel":        {req: request{same: "a"}, out: toolabi.Outcome{Output: []byte("1"), Fuel: 6}},
		"other output":      {req: request{same: "a"}, out: toolabi.Outcome{Output: []byte("2"), Fuel: 5}},
		"a host out of it ": {req: good, err: toolabi.NewError(toolabi.LimitTime, "")},
	} {
		if _, err := c.judge(kind{}, request{same: "a"}, toolabi.Outcome{Output: []byte("1"), Fuel: 5}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.judge(kind{}, tc.req, tc.out, tc.err); err == nil {
			t.Errorf("%s: nothing is wrong with it", name)
		}
	}
}
