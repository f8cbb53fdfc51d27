package agent_test

import (
	"fmt"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/journal"
)

// long is an agent of so many turns whose model is told of the latest ten.
func long(turns int) agent.Agent {
	a := scripted(fmt.Sprintf(`
replies:
  - when: ${ (.results[0].output.n // 0) >= %d }
    say: done
  - call: shop.echo
    with: { n: "${ ((.results[0].output.n) // 100000) + 1 }", text: "some text that is as long as any other" }`, 100000+turns))
	a.Limits.Steps = agent.MaxSteps
	a.Context.Turns = 10
	return a
}

// A step at the end of a long run takes as many bytes as one at its beginning.
func TestStepsOfALongRunTakeAsMuchAtItsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: 2,000 answers, -short")
	}
	const turns = 2000
	s := newSite(t)
	got, err := s.answer(long(turns))
	if err != nil || got != "done" || s.billed() != turns+1 {
		t.Fatalf("got %q, %v after %d answers", got, err, s.billed())
	}
	in := func(from, to int) (size int) {
		for _, e := range s.entries() {
			var turn, n int
			if _, err := fmt.Sscanf(string(e.Step), "model[%d]", &turn); err != nil {
				if _, err := fmt.Sscanf(string(e.Step), "call[%d][%d]", &turn, &n); err != nil {
					continue
				}
			}
			if turn >= from && turn < to {
				size += sizeOf(t, e)
			}
		}
		return size
	}
	begin, end := in(100, 300), in(1800, 2000)
	if end*10 > begin*11 {
		t.Errorf("200 turns take %d bytes at the beginning and %d at the end", begin, end)
	}
	t.Logf("a turn takes %d bytes at the beginning, %d at the end", begin/200, end/200)
	asked := len(s.asked)
	if longest := len(s.asked[asked-1].Messages); longest != 21 {
		t.Errorf("the model is told of %d messages", longest)
	}
}

func sizeOf(t *testing.T, e journal.Entry) int {
	t.Helper()
	b, err := e.Marshal(journal.Digest{})
	if err != nil {
		t.Fatal(err)
	}
	return len(b)
}
