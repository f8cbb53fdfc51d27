package mixed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/runtime"
)

// driver is the name of the driver that all runs have.
const driver = "mixed"

// drive calls a tool, a tool that calls another one, and one that fails.
func drive(ctx context.Context, r *runtime.Run) ([]byte, error) {
	sum, err := r.Call(ctx, "sum", "text.sum", []byte(`{"numbers":[40,2]}`))
	if err != nil {
		return nil, err
	}
	if _, err := r.Call(ctx, "fail", "text.fail", []byte(`{"detail":"as_told"}`)); err == nil {
		return nil, errors.New("a call that fails has not failed")
	} else if ctx.Err() != nil {
		return nil, err
	}
	loud, err := r.Call(ctx, "loud", "flows.relay", fmt.Appendf(nil, `{"tool":"text.upper","input":%s}`, r.Input()))
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `[%s,%s]`, sum, loud), nil
}

// runs is a phase in which a host with a journal of its own is opened, drives runs, and is closed.
func runs(ctx context.Context, s *soak, _ *world, t turn) error {
	dir, done, err := s.place("host")
	if err != nil {
		return err
	}
	defer done()
	host, err := wrun.Open(ctx, wrun.Config{
		Journal: filepath.Join(dir, "journal.db"), Create: true, Cache: s.shelf.cache, MemoryBudget: roomyBudget,
		Drivers: map[string]runtime.DriverInfo{driver: {Version: "1", Drive: drive}},
	})
	if err != nil {
		return err
	}
	spec := runtime.Spec{Driver: driver, Version: "1"}
	for _, name := range []string{"text", "flows"} {
		m, err := host.AddModule(s.shelf.tools[name])
		if err != nil {
			return errors.Join(err, host.Close())
		}
		spec.Modules = append(spec.Modules, m)
	}
	err = together(4, func(worker int) error {
		r := s.chance(t, worker)
		for n := 0; n == 0 || time.Now().Before(t.until); n++ {
			began := time.Now()
			if err := s.drive(ctx, host, fmt.Sprintf("r-%d-%d", worker, n), spec, r); err != nil {
				return err
			}
			s.each(t.cycle)
			if err := s.breathe(ctx, time.Since(began)); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, host.Close())
}

// drive drives one run to its end. Some are interrupted in the middle, and gone on with.
func (s *soak) drive(ctx context.Context, host *wrun.Host, id string, spec runtime.Spec, r *rand.Rand) error {
	in := text(r, 100, 100_000)
	spec.Input = fmt.Appendf(nil, `{"text":"%s"}`, in)
	first, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	if r.IntN(3) == 0 {
		defer time.AfterFunc(time.Duration(r.Int64N(int64(60*time.Millisecond))), func() { kill(errKilled) }).Stop()
	}
	if _, err := host.Start(ctx, id, spec); err != nil {
		return err
	}
	res, err := host.Resume(first, id)
	if errors.Is(err, runtime.ErrInterrupted) && context.Cause(first) == errKilled {
		s.count.add(endKilled)
		res, err = host.Resume(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	want := fmt.Appendf(nil, `[{"sum":42},{"text":"%s"}]`, bytes.ToUpper(in))
	if !bytes.Equal(res.Output, want) {
		return fmt.Errorf("run %s came to %.200q of %d bytes, and not to %.200q of %d", id, res.Output, len(res.Output), want, len(want))
	}
	s.count.add(endRun)
	return nil
}

// place makes a directory and returns what removes it.
func (s *soak) place(name string) (dir string, done func(), err error) {
	if dir, err = os.MkdirTemp(s.dir, name+"-"); err != nil {
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
