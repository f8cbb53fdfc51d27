package plan_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// errKilled is what a process that is killed answers.
var errKilled = errors.New("killed")

// memory stands for a run with its log. Each new step takes its own time, those that the log holds take none, and after
// so many new ones the process is dead.
type memory struct {
	seed int

	mu    sync.Mutex
	left  int                     // guarded by mu: new steps before the kill
	log   map[journal.Step]string // guarded by mu: what was asked for
	asked map[journal.Step]bool   // guarded by mu: by this process
	moved []string                // guarded by mu: steps that were asked for with something else than the log holds
}

func (m *memory) ask(step journal.Step, request string) error {
	m.mu.Lock()
	m.asked[step] = true
	before, known := m.log[step]
	if known && before != request {
		m.moved = append(m.moved, fmt.Sprintf("%s: %s, before %s", step, request, before))
	}
	m.mu.Unlock()
	if known {
		return nil
	}
	h := fnv.New32()
	fmt.Fprint(h, m.seed, step)
	time.Sleep(time.Duration(h.Sum32()%100) * time.Second)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return errKilled
	}
	m.log[step] = request
	return nil
}

func (m *memory) Invoke(_ context.Context, c runtime.CallSpec) ([]byte, error) {
	if err := m.ask(c.Step, c.Tool+" "+string(c.Input)); err != nil {
		return nil, err
	}
	if c.Tool == "a.fail" {
		return nil, toolabi.NewError(toolabi.Failed, "no "+string(c.Input))
	}
	return fmt.Appendf(nil, `{"step": %q, "got": %s}`, c.Step, c.Input), nil
}

func (m *memory) Approve(_ context.Context, step journal.Step, q runtime.Question) ([]byte, error) {
	if err := m.ask(step, "approve "+q.Text); err != nil {
		return nil, err
	}
	if q.Text == "no?" {
		return nil, toolabi.NewError(toolabi.Denied, "no")
	}
	return []byte(`{"by": "ada"}`), nil
}

func (m *memory) Sleep(_ context.Context, step journal.Step, d time.Duration) error {
	return m.ask(step, "sleep "+d.String())
}

func (m *memory) SleepUntil(_ context.Context, step journal.Step, t time.Time) error {
	return m.ask(step, "until "+t.String())
}

// process runs a plan with the log that is there until it is done or killed.
func (m *memory) process(p *plan.Plan, life int) (result string, killed bool) {
	m.mu.Lock()
	m.left, m.asked = life, map[journal.Step]bool{}
	m.mu.Unlock()
	out, err := p.Run(context.Background(), m, []byte(`{"list": [3, 1, 2], "many": [1, 2, 3, 4, 5, 6, 7]}`))
	if errors.Is(err, errKilled) {
		return "", true
	}
	return fmt.Sprintf("%s %v", out, err), false
}

// What is asked for, and what comes out, must not depend on which of several things that are done at once is faster, nor
// on which of them were done before a kill.
func TestARunThatIsKilledAndResumedAsksForTheSame(t *testing.T) {
	for name, steps := range map[string]string{
		"branches": `
steps:
  - parallel:
      - [{id: a1, tool: a.b}, {id: a2, tool: a.b, with: "${ .a1 }"}]
      - {id: b, tool: a.b}
      - [{id: c1, tool: a.b, if: false}, {id: c2, approve: "ok?"}, {id: c3, sleep: 5m}]
  - {id: end, tool: a.b, with: "${ . }"}
`,
		"two branches fail, and it is handled": `
steps:
  - id: all
    parallel:
      - [{id: a1, tool: a.b}, {id: a2, tool: a.b}, {id: a3, tool: a.fail, with: a}]
      - {id: b, tool: a.fail, with: b}
      - [{id: c1, tool: a.b}, {id: c2, tool: a.b}, {id: c3, tool: a.b}, {id: c4, tool: a.b}]
    on_error:
      - {id: undo, tool: a.b, with: ["${ .error }", "${ .a1 }", "${ .c4 }"]}
  - {id: end, tool: a.b, with: "${ . }"}
`,
		"two branches fail": `
steps:
  - parallel:
      - [{id: a1, tool: a.b}, {id: a2, tool: a.fail, with: a}]
      - {id: b, approve: "no?"}
      - [{id: c1, tool: a.b}, {id: c2, tool: a.b}, {id: c3, tool: a.b}]
`,
		"a limit and a failure": `
steps:
  - id: loop
    for_each: ${ .input.many }
    limit: 3
    steps: [{id: x, tool: a.b}, {if: "${ .item == 2 or .item == 3 }", steps: [{id: y, tool: a.fail, with: "${ .item }"}]}, {id: z, tool: a.b}]
    on_error: [{id: sorry, tool: a.b, with: "${ .error }"}]
`,
		"loops in loops": `
steps:
  - id: outer
    for_each: ${ .input.list }
    as: n
    limit: 2
    steps:
      - id: inner
        for_each: ${ [range(.n)] }
        as: m
        limit: 3
        steps: [{id: x, tool: a.b, with: ["${ .n }", "${ .m }"]}, {id: y, tool: a.fail, if: "${ .m == 1 }", on_error: continue}]
      - {id: after, tool: a.b, with: "${ .inner }"}
output: ${ .outer }
`,
		"branches in loops in branches, with a limit": `
steps:
  - parallel:
      - for_each: ${ .input.list }
        limit: 2
        steps: [{limit: 2, parallel: [{id: a, tool: a.b, with: "${ .item }"}, {id: b, tool: a.fail, with: 1, if: "${ .item == 1 }"}, {id: c, tool: a.b}]}]
        on_error: continue
      - [{id: d, tool: a.b}, {id: e, tool: a.b}]
    limit: 1
  - {id: end, tool: a.b, with: "${ .e }"}
`,
	} {
		t.Run(name, func(t *testing.T) {
			p := mustParse(t, "tools: {a: a.wasm}\n"+steps)
			synctest.Test(t, func(t *testing.T) {
				whole := &memory{log: map[journal.Step]string{}}
				want, _ := whole.process(p, 1000)
				for seed := range 20 {
					for life := range len(whole.log) {
						m := &memory{seed: seed, log: map[journal.Step]string{}}
						got, killed := m.process(p, life)
						for killed {
							m.seed++
							got, killed = m.process(p, max(1, life))
						}
						if got != want {
							t.Fatalf("seed %d, killed after %d: ended with\n%s\nwant\n%s", seed, life, got, want)
						}
						if !maps.Equal(m.log, whole.log) || len(m.moved) > 0 {
							t.Fatalf("seed %d, killed after %d: log\n%q\nwant\n%q\nasked for something else: %q", seed, life, m.log, whole.log, m.moved)
						}
						for step := range m.log {
							if !m.asked[step] {
								t.Fatalf("seed %d, killed after %d: the log holds %s, which was not asked for", seed, life, step)
							}
						}
					}
				}
			})
		})
	}
}
