package wrun_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// envLong has tests that repeat something do it as often as is promised, and not only for some seconds.
const envLong = "WRUN_TEST_LONG"

// Two that go on with the same run at the same moment: exactly one does, and the other is told who. A thousand times, with envLong.
func TestOfTwoThatResumeARunExactlyOneDoes(t *testing.T) {
	rounds := 100
	if os.Getenv(envLong) != "" {
		rounds = 1000
	}
	path := filepath.Join(t.TempDir(), "journal.db")
	var effects, entered atomic.Int64
	refused := make(chan struct{}, 1)
	driver := runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if entered.Add(1) > 1 {
			return nil, errors.New("two drive the run")
		}
		select { // until the other was turned away
		case <-refused:
		case <-ctx.Done():
		}
		_, err := r.Do(ctx, "pay", runtime.Act{Name: "pay", Class: toolabi.Once, Do: func(_ context.Context, a runtime.Attempt) ([]byte, error) {
			err := a.BeforeSend()
			effects.Add(1)
			return []byte("paid"), err
		}})
		return []byte(`1`), err
	}}
	// A handle each: their locks and their owners are those of two processes.
	var engines []*runtime.Engine
	for range 2 {
		j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		if len(engines) == 0 {
			journaltest.CheckOnCleanup(t, j)
		}
		e, err := runtime.New(runtime.Config{Journal: j})
		if err != nil {
			t.Fatal(err)
		}
		engines = append(engines, e)
	}
	for i := range rounds {
		run := fmt.Sprintf("run-%04d", i)
		if _, err := engines[0].Start(t.Context(), run, runtime.Spec{Driver: "pay", Input: []byte(`{}`)}, nil, false); err != nil {
			t.Fatal(err)
		}
		entered.Store(0)
		errs := make([]error, len(engines))
		var wg sync.WaitGroup
		for k, e := range engines {
			wg.Go(func() {
				if _, errs[k] = e.Drive(t.Context(), run, runtime.DriveOptions{Driver: &driver}); errs[k] != nil {
					refused <- struct{}{}
				}
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			var busy *runtime.BusyError
			switch {
			case err == nil:
				won++
			case !errors.As(err, &busy) || !errors.Is(err, journal.ErrFenced) || busy.Who == "":
				t.Fatalf("round %d: the other one is told %v", i, err)
			}
		}
		if won != 1 || effects.Load() != int64(i+1) || entered.Load() != 1 {
			t.Fatalf("round %d: %d went on, %d entered the driver, %d effects in all: %v", i, won, entered.Load(), effects.Load(), errs)
		}
	}
}
