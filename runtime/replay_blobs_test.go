package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// without is a journal that has lost a blob.
type without struct {
	journaltest.Store
	gone journal.Digest
}

func (w without) Open(ctx context.Context, d journal.Digest) (io.ReadCloser, error) {
	if d == w.gone {
		return nil, journal.ErrNotFound
	}
	return w.Store.Open(ctx, d)
}

// A call whose input, result or answers are gone cannot be replayed, and what is missing is named. The others can; and so can one that
// lacks only its requests, of which the log has the digests.
func TestAReplayNamesTheBlobThatIsGone(t *testing.T) {
	long := strings.Repeat("x", journal.MaxInline+1)
	m := newMachine(t, map[string]tool{
		"send": func(g *guest, in string) string { g.must(toolabi.FuncHTTPSend, "a "+in); return in + " " },
		"ok":   func(g *guest, _ string) string { return g.must(toolabi.FuncClock, "")[:0] + `1` },
	})
	_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Call(ctx, "long", "m.send", fmt.Appendf(nil, "%q", long)); err != nil {
			return nil, err
		}
		return r.Call(ctx, "short", "m.ok", []byte(`{}`))
	})
	if err != nil {
		t.Fatal(err)
	}
	gone := map[string]journal.Digest{} // what is in blobs, by kind and step
	for e, err := range m.mem.Read(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.Blob.IsZero() {
			gone[fmt.Sprintf("%s %s", e.Kind, e.Step)] = e.Blob
		}
	}
	for what, verdict := range map[string]runtime.ReplayVerdict{
		"intent long": runtime.ReplayCannot, "result long": runtime.ReplayCannot, "intent long/1": runtime.ReplaySame, "result long/1": runtime.ReplayCannot,
	} {
		d, ok := gone[what]
		if !ok {
			t.Errorf("%s is in no blob: %v", what, gone)
			continue
		}
		e, err := runtime.New(runtime.Config{Journal: without{m.mem.Handle(), d}, Invoker: &goInvoker{tools: m.tools, entered: map[string]int{}}, Funcs: m.funcs()})
		if err != nil {
			t.Fatal(err)
		}
		var got []runtime.Replayed
		for res, err := range e.Replay(t.Context(), "r", runtime.ReplayOptions{}) {
			if err != nil {
				t.Fatalf("without %s: %v", what, err)
			}
			got = append(got, res)
		}
		if len(got) != 2 || got[0].Verdict != verdict || got[1].Verdict != runtime.ReplaySame {
			t.Errorf("without %s: replayed %+v, want %s", what, got, verdict)
			continue
		}
		if cannot := verdict == runtime.ReplayCannot; cannot != errors.Is(got[0].Err, journal.ErrDamaged) || cannot != strings.Contains(got[0].Why, d.Short()) {
			t.Errorf("without %s, %s: %q, %v", what, d.Short(), got[0].Why, got[0].Err)
		}
	}
}
