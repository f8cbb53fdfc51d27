package sandbox_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// entering is a guest that says that it was entered, and then never ends.
func entering(t testing.TB) []byte {
	g := newGuest(toolabi.FuncLog)
	return g.invoke(0, I32Const(0), I32Const(0), Call(g.host[toolabi.FuncLog]), Drop, Loop, Br(0), End).build(t)
}

// TestClosingAndCancellingCrashNothing closes sandboxes while calls are loaded, entered, computing, and being cancelled: what
// frees an instance too early crashes the process.
func TestClosingAndCancellingCrashNothing(t *testing.T) {
	if !isolated(t) {
		return
	}
	wasm := []([]byte){echo(t), entering(t), endless(t)}
	for round := range 50 {
		s := shelf{}
		var digests []toolabi.Digest
		for _, w := range wasm {
			digests = append(digests, s.add(w))
		}
		box, err := sandbox.New(t.Context(), sandbox.Config{Source: s.source})
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				_, err := box.Invoke(ctx, toolabi.Invocation{Module: digests[i%3], Tool: "echo", Input: []byte("1")}, hostThatAnswers)
				if err != nil && err != why && err != sandbox.ErrClosed {
					t.Errorf("round %d, call %d: %v", round, i, err)
				}
			})
		}
		wait := func() time.Duration { return time.Duration(rand.IntN(int(3 * time.Millisecond))) }
		time.AfterFunc(wait(), func() { cancel(why) })
		for range 4 {
			wg.Go(func() {
				soon, stop := context.WithTimeout(context.Background(), wait())
				defer stop()
				if err := box.Close(soon); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wg.Wait()
		if err := box.Close(context.Background()); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

func hostThatAnswers(context.Context, string, []byte) (toolabi.Answer, error) {
	return toolabi.Answer{Reply: []byte("1")}, nil
}

// TestAThousandRunningCallsAreCancelled begins to cancel once each of them has been entered and some compute, and calls go on
// afterwards.
func TestAThousandRunningCallsAreCancelled(t *testing.T) {
	if !isolated(t) {
		return
	}
	const calls = 1000
	box, s := open(t, sandbox.Config{})
	running, honest := s.add(entering(t)), s.add(echo(t))
	if err := box.Prepare(t.Context(), honest); err != nil {
		t.Fatal(err)
	}
	why := errors.New("all of them")
	ctx, cancel := context.WithCancelCause(t.Context())
	entered, all := make(chan struct{}, calls), make(chan struct{})
	ended := make(chan error, calls)
	for range calls {
		go func() {
			_, err := box.Invoke(ctx, toolabi.Invocation{Module: running, Tool: "echo"}, func(ctx context.Context, name string, b []byte) (toolabi.Answer, error) {
				entered <- struct{}{}
				<-all
				return hostThatAnswers(ctx, name, b)
			})
			ended <- err
		}()
	}
	for range calls {
		<-entered
	}
	close(all)
	cancel(why)
	for range calls {
		if err := <-ended; err != why {
			t.Fatalf("a call came to %v, want %v", err, why)
		}
	}
	if out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: honest, Tool: "echo", Input: []byte("1")}, nil); err != nil || string(out.Output) != "1" {
		t.Errorf("outcome is %s, %v, %v", out.Output, out.Err, err)
	}
}
