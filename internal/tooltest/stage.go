package tooltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// RunID is the run that a case is.
const RunID = "case"

// Stage is where one case is played: what is there before its engine, and stays when that is killed.
type Stage struct {
	// Live is the world, Case what is played.
	Live *world.Live
	Case *toolcase.Case

	bench  *Bench
	box    *sandbox.Sandbox
	world  *world.World
	grants hostfuncs.Grants
	cfg    hostfuncs.Config
	fakes  map[toolabi.Digest]*fake
	clock  *world.Clock
	dir    string        // of the workspace
	ride   time.Duration // how long an outcome waits for the next append; 0 as the engine says
	seed   byte

	mu         sync.Mutex // guards the rest
	logs       []string
	draws      map[string]uint32 // how often each call drew randomness
	reads      [][2]int          // what the world saw of each http_fetch that was answered, from and to
	uses       []Use
	unexpected []string
	answers    map[journal.Step]int // which answer of the world a question got
	replies    map[string]int       // which answer of the world an invocation of another module's tool got, by its seed
	asked      map[string]int       // how often each of those was asked
}

// Setting is in what a second performance of a case differs from the first.
type Setting struct {
	// Seed is what calls draw their randomness from; 0 and up.
	Seed byte
	// Later is how much later the clock stands at the start.
	Later time.Duration
	// OtherStart lets the module draw other randomness while it starts.
	OtherStart bool
	// World takes the place of the case's; nil for that.
	World *world.World
	// NoTimers lets what may wait for the next append wait for it however long that takes, so that there are the same appends each time.
	NoTimers bool
}

// Stage makes the stage of a case. The caller closes it.
func (b *Bench) Stage(f *toolcase.File, c *toolcase.Case, set Setting) (*Stage, error) {
	s := &Stage{
		Case: c, bench: b, box: b.box, world: f.Of(c), fakes: map[toolabi.Digest]*fake{}, seed: set.Seed,
		answers: map[journal.Step]int{}, replies: map[string]int{}, asked: map[string]int{}, draws: map[string]uint32{},
	}
	if set.OtherStart {
		s.box = b.other
	}
	if set.World != nil {
		s.world = set.World
	}
	if set.NoTimers {
		s.ride = time.Hour
	}
	s.clock = world.NewClock(s.world.At().Add(set.Later))
	if err := s.open(f.GrantsOf(c)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stage) open(explicit *toolcase.Grants) (err error) {
	if s.dir, err = os.MkdirTemp("", "wrun-test-"); err != nil {
		return err
	}
	s.grants = s.grant(explicit)
	if err := s.grants.Validate(); err != nil {
		return fmt.Errorf("grants of the case: %w", err)
	}
	if s.Live, err = world.Start(s.world, world.Options{Mail: s.grants.Mail, Now: s.clock.Now}); err != nil {
		return err
	}
	if s.cfg, err = s.Live.Config(); err != nil {
		return err
	}
	s.cfg.Now = s.clock.Now
	s.addFakes()
	return s.writeFiles()
}

// Close ends the world and removes the workspace.
func (s *Stage) Close() error {
	var errs []error
	if s.Live != nil {
		errs = append(errs, s.Live.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// workspace is the directory of the run's files.
func (s *Stage) workspace() string { return filepath.Join(s.dir, "files") }

func (s *Stage) writeFiles() error {
	for _, path := range slices.Sorted(maps.Keys(s.world.Files)) {
		full := filepath.Join(s.workspace(), filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte(s.world.Files[path]), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Prepare puts what the world has in its stores into a journal, before anything is driven on it.
func (s *Stage) Prepare(ctx context.Context, store journaltest.Store) error {
	if len(s.world.KV) == 0 {
		return nil
	}
	e, err := runtime.New(runtime.Config{Journal: store, Invoker: s, Funcs: hostfuncs.Standard(s.cfg), Now: s.clock.Now})
	if err != nil {
		return err
	}
	var grants hostfuncs.Grants
	for name := range maps.Keys(s.world.KV) {
		grants.KV = append(grants.KV, hostfuncs.KVGrant{Store: name, Write: true})
	}
	spec := runtime.Spec{Driver: "world", Modules: []runtime.Module{filler}, Grants: grants}
	if _, err := e.Start(ctx, "world", spec, map[toolabi.Digest][]byte{filler.Digest: fillerBytes}, true); err != nil {
		return err
	}
	_, err = e.Drive(ctx, "world", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "fill", "world.fill", []byte("{}"))
	}}})
	if err != nil {
		return fmt.Errorf("fill the stores: %w", err)
	}
	return nil
}

// note remembers something that the world does not have, once.
func (s *Stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.unexpected, text) {
		s.unexpected = append(s.unexpected, text)
	}
}

// observe keeps what the tool says.
func (s *Stage) observe(e runtime.Event) {
	if e.Phase != runtime.Said || e.Run != RunID {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = append(s.logs, e.Text)
}
