package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
)

// holding is the journal's side of one use of a host function: the state of tools that it reads and changes, and the
// artifacts of the run. It may be used concurrently.
//
// Where the journal cannot do what it is asked, the run ends with that, whatever the function makes of it: damage and a full
// disk are never an answer. Only of an effect that must not be repeated and has left does the function's word stand.
type holding struct {
	run  *Run
	room *held  // space for what comes of the use
	most uint64 // how many bytes of artifacts are granted

	mu     sync.Mutex
	writes []journal.Write // guarded by mu: staged
	failed error           // guarded by mu: what the journal could not do
}

// serve gives a function what it may use of the journal.
func (s *holding) serve(ctx context.Context, c *hostfuncs.Call) {
	c.Get = func(space, key string) ([]byte, uint64, bool, error) { return s.get(ctx, space, key) }
	c.Stage = s.stage
	c.Scan = func(space, prefix, after string, limit int) ([]hostfuncs.Item, bool, error) {
		return s.scan(ctx, space, prefix, after, limit)
	}
	if s.run.engine.blobs != nil {
		c.Artifacts = s
	}
	s.most = c.Grants.ArtifactBytes()
	c.Versions, c.Files = s.run.kept.history, s.files
}

// fail remembers what the journal could not do, and returns it as the error that ends the driving. What ended because the
// caller wants no more of it is no fault.
func (s *holding) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	err = s.run.journalError(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// fault is the first thing that the journal could not do, or nil.
func (s *holding) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// staged returns the changes of state that belong to the outcome.
func (s *holding) staged() []journal.Write {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// refs returns the artifacts that belong to the outcome. nil has none.
func (s *holding) refs() []journal.Digest {
	if s == nil {
		return nil
	}
	return s.run.kept.held(s)
}

// release is called when the outcome is recorded, or will never be. nil has nothing to release.
func (s *holding) release() {
	if s != nil {
		s.run.kept.release(s)
	}
}

func damagedArtifact(d journal.Digest, err error) error {
	return fmt.Errorf("%w: artifact %s: %w", journal.ErrDamaged, d, err)
}
