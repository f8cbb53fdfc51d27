package wrun_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// longTurns is how many turns a long run has.
const longTurns = 2000

// longReplies let an agent count.
const longReplies = `
replies:
  - when: ${ (.results[0].output.n // 0) >= %d }
    say: done
  - call: %s
    with: { n: "${ ((.results[0].output.n) // 100000) + 1 }", text: "some text that is as long as any other" }`

// echo is a module whose one tool returns its input, and its Invoker: what is measured is the engine, the agent and the file.
type echo struct{}

var echoModule = runtime.Module{Name: "shop", Digest: toolabi.DigestOf([]byte("shop")), Manifest: toolabi.Manifest{
	Name: "shop", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "echo", Description: "returns its input", Idempotency: toolabi.Pure}},
}}

func (echo) Invoke(_ context.Context, inv toolabi.Invocation, _ toolabi.HostFunc) (toolabi.Outcome, error) {
	return toolabi.Outcome{Output: inv.Input}, nil
}

// watched is a client that notes when each turn begins, and how long the model took in it.
type watched struct {
	model.Client
	begun   []time.Time
	thought []time.Duration
}

func (w *watched) Encode(r model.Request) ([]byte, error) {
	w.begun, w.thought = append(w.begun, time.Now()), append(w.thought, 0)
	return w.Client.Encode(r)
}

func (w *watched) Send(ctx context.Context, request []byte, a model.Attempt) (model.Answer, error) {
	began := time.Now()
	defer func() { w.thought[len(w.thought)-1] += time.Since(began) }()
	return w.Client.Send(ctx, request, a)
}

// took is how long turns took without the model.
func (w *watched) took(from, to int) (all []time.Duration) {
	for turn := from; turn < to; turn++ {
		all = append(all, w.begun[turn+1].Sub(w.begun[turn])-w.thought[turn])
	}
	return all
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2])
}

// BenchmarkAgentSteps is a run of 2,000 turns, each an answer of a scripted model and a call of a tool in plain Go, in a real
// file. x-end says how much longer a turn takes at the end than at the beginning, in the median and without the model's own time,
// x-bytes how many more bytes of the log.
func BenchmarkAgentSteps(b *testing.B) {
	var begin, end []time.Duration
	var small, large float64
	for b.Loop() {
		w, log := longRun(b, longTurns)
		begin, end = append(begin, w.took(100, 300)...), append(end, w.took(1800, 2000)...)
		small, large = bytesPerTurn(b, log, 100, 300), bytesPerTurn(b, log, 1800, 2000)
	}
	b.ReportMetric(median(begin), "ns/step-begin")
	b.ReportMetric(median(end), "ns/step-end")
	b.ReportMetric(median(end)/median(begin), "x-end")
	b.ReportMetric(small, "B/step-begin")
	b.ReportMetric(large, "B/step-end")
	b.ReportMetric(large/small, "x-bytes")
}

func longRun(b *testing.B, turns int) (*watched, []journal.Entry) {
	b.Helper()
	j, err := boltdb.Create(b.Context(), filepath.Join(b.TempDir(), "journal.db"), boltdb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	w := &watched{}
	e, err := runtime.New(runtime.Config{
		Journal: j, Invoker: echo{}, Drivers: map[string]runtime.DriverInfo{agent.Name: agent.Driver(agent.Config{
			Connect: func(ctx context.Context, m agent.Model) (_ model.Client, err error) {
				w.Client, err = agent.Connect(nil)(ctx, m)
				return w, err
			},
		})},
	})
	if err != nil {
		b.Fatal(err)
	}
	a := agent.Agent{
		Model: agent.Model{Protocol: agent.Scripted, Script: fmt.Sprintf(longReplies, 100000+turns, "shop.echo")},
		Tools: []string{"shop.echo"}, Limits: agent.Limits{Steps: agent.MaxSteps}, Context: agent.Window{Turns: 10},
	}
	spec, err := a.Spec("count", []runtime.Module{echoModule}, hostfuncs.Grants{}, toolabi.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := e.Start(b.Context(), "r", spec, map[toolabi.Digest][]byte{echoModule.Digest: []byte("shop")}, true); err != nil {
		b.Fatal(err)
	}
	if res, err := e.Drive(b.Context(), "r", runtime.DriveOptions{}); err != nil || string(res.Output) != `"done"` {
		b.Fatalf("the run returned %s, %v", res.Output, err)
	}
	var log []journal.Entry
	for entry, err := range j.Read(b.Context(), "r", 0) {
		if err != nil {
			b.Fatal(err)
		}
		log = append(log, entry)
	}
	return w, log
}

// bytesPerTurn is how long the entries of a turn are, on average.
func bytesPerTurn(b *testing.B, log []journal.Entry, from, to int) float64 {
	b.Helper()
	size := 0
	for _, e := range log {
		var turn, n int
		if _, err := fmt.Sscanf(string(e.Step), "model[%d]", &turn); err != nil {
			if _, err := fmt.Sscanf(string(e.Step), "call[%d][%d]", &turn, &n); err != nil {
				continue
			}
		}
		if turn < from || turn >= to {
			continue
		}
		text, err := e.Marshal(journal.Digest{})
		if err != nil {
			b.Fatal(err)
		}
		size += len(text)
	}
	return float64(size) / float64(to-from)
}
