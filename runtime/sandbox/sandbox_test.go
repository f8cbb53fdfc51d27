package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestConcurrentCallsDoNotMix(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	loaded := atomic.Int32{}
	counted, err := sandbox.New(t.Context(), sandbox.Config{Source: func(ctx context.Context, d toolabi.Digest) ([]byte, error) {
		loaded.Add(1)
		return s.source(ctx, d)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer counted.Close(context.Background())
	modules := []toolabi.Digest{s.add(echo(t)), s.add(newGuest().invoke(0, Unreachable).build(t))}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				input := fmt.Sprintf(`{"from":%d,"call":%d}`, g, i)
				which := []*sandbox.Sandbox{box, counted}[i%2]
				out, err := which.Invoke(t.Context(), toolabi.Invocation{Module: modules[i%3%2], Tool: "echo", Input: []byte(input)}, nil)
				trapped := i%3%2 == 1
				if err != nil || trapped != errors.Is(errorOf(out), toolabi.Trapped) || !trapped && string(out.Output) != input {
					t.Errorf("%s came to %s, %v, %v", input, out.Output, out.Err, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := loaded.Load(); n != 2 {
		t.Errorf("2 modules were loaded %d times", n)
	}
}

// TestCompilingOneModuleHoldsUpNoOther runs a call while another module's bytes are still awaited, and leaves that one.
func TestCompilingOneModuleHoldsUpNoOther(t *testing.T) {
	s := shelf{}
	fast, slow := s.add(echo(t)), s.add(changed(t, func(*guest) {}))
	asked, let := make(chan struct{}), make(chan struct{})
	box, _ := open(t, sandbox.Config{Source: func(ctx context.Context, d toolabi.Digest) ([]byte, error) {
		if d == slow {
			close(asked)
			<-let
		}
		return s.source(ctx, d)
	}})
	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	left := make(chan error)
	go func() {
		_, err := box.Invoke(ctx, toolabi.Invocation{Module: slow, Tool: "echo"}, nil)
		left <- err
	}()
	<-asked
	if out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: fast, Tool: "echo", Input: []byte("1")}, nil); err != nil || string(out.Output) != "1" {
		t.Errorf("outcome is %s, %v, %v", out.Output, out.Err, err)
	}
	cancel(why)
	if err := <-left; err != why {
		t.Errorf("the call that was left came to %v, want %v", err, why)
	}
	close(let)
	if out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: slow, Tool: "echo"}, nil); err != nil || string(out.Output) != "{}" {
		t.Errorf("outcome is %s, %v, %v", out.Output, out.Err, err)
	}
}

func TestCloseWaitsForCalls(t *testing.T) {
	s := shelf{}
	box, err := sandbox.New(t.Context(), sandbox.Config{Source: s.source})
	if err != nil {
		t.Fatal(err)
	}
	inv := toolabi.Invocation{Module: s.add(errorOrNothing(t, toolabi.FuncClock, 0)), Tool: "echo"}
	entered, let := make(chan struct{}), make(chan struct{})
	done := make(chan toolabi.Outcome, 1)
	go func() {
		out, _ := box.Invoke(t.Context(), inv, func(context.Context, string, []byte) (toolabi.Answer, error) {
			close(entered)
			<-let
			return toolabi.Answer{Reply: []byte("1")}, nil
		})
		done <- out
	}()
	<-entered
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := box.Close(over); !errors.Is(err, context.Canceled) {
		t.Errorf("closing during a call gave %v, want %v", err, context.Canceled)
	}
	if _, err := box.Invoke(t.Context(), inv, nil); err != sandbox.ErrClosed {
		t.Errorf("a call after Close gave %v, want %v", err, sandbox.ErrClosed)
	}
	close(let)
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if out := <-done; string(out.Output) != "{}" {
		t.Errorf("the call that was under way came to %s, %v", out.Output, out.Err)
	}
}

// TestNothingIsLeftAfterClose counts goroutines and open files around sandboxes that ran, trapped and stopped guests.
func TestNothingIsLeftAfterClose(t *testing.T) {
	use := func() {
		s := shelf{}
		box, err := sandbox.New(context.Background(), sandbox.Config{Source: s.source, CacheDir: CodeCache(t)})
		if err != nil {
			t.Fatal(err)
		}
		loop, good := s.add(endless(t)), s.add(echo(t))
		for i := range 20 {
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() {
				_, err := box.Invoke(ctx, toolabi.Invocation{Module: loop, Tool: "echo"}, nil)
				ended <- err
			}()
			_, err := box.Invoke(context.Background(), toolabi.Invocation{Module: good, Tool: "echo", Input: []byte("1")}, nil)
			cancel()
			if stopped := <-ended; err != nil || stopped != context.Canceled {
				t.Fatal(i, err, stopped)
			}
		}
		if err := box.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	use()
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for range 3 {
		use()
	}
	// A goroutine that has been told to end may not have ended yet; each turn lets others run.
	for i := 0; runtime.NumGoroutine() > goroutines; i++ {
		if i == 1_000_000 {
			t.Fatalf("%d goroutines, there were %d before", runtime.NumGoroutine(), goroutines)
		}
		runtime.Gosched()
	}
	if n := openFiles(); n > files {
		t.Errorf("%d open files, there were %d before", n, files)
	}
}

// openFiles returns how many there are, where the system says so.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

func TestOnlyCompilingIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	wasm := echo(t)
	run := func() (events []sandbox.CompileEvent) {
		box, s := open(t, sandbox.Config{CacheDir: dir, OnCompile: func(e sandbox.CompileEvent) { events = append(events, e) }})
		inv := toolabi.Invocation{Module: s.add(wasm), Tool: "echo", Input: []byte("1")}
		for range 2 {
			if out, err := box.Invoke(t.Context(), inv, nil); err != nil || string(out.Output) != "1" {
				t.Fatal(out, err)
			}
		}
		return events
	}
	events := run()
	if len(events) != 2 || events[0].Done || !events[1].Done || events[1].Took <= 0 {
		t.Fatalf("events are %+v, want that it began and that it ended", events)
	}
	for _, e := range events {
		if e.Module != toolabi.DigestOf(wasm) || e.Name != "guest" || e.Size != len(wasm) || e.Err != nil {
			t.Errorf("event is %+v", e)
		}
	}
	if events := run(); len(events) != 0 {
		t.Errorf("code from the cache was told of: %+v", events)
	}
}

func TestADamagedCacheIsCompiledAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	damage := func(path string) error {
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 {
			return err
		}
		return os.Truncate(path, info.Size()/2)
	}
	for range 2 {
		box, s := open(t, sandbox.Config{CacheDir: dir})
		if out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(echo(t)), Tool: "echo", Input: []byte("1")}, nil); err != nil || string(out.Output) != "1" {
			t.Fatal(out.Err, err)
		}
		if err := eachFile(dir, damage); err != nil {
			t.Fatal(err)
		}
	}
}
