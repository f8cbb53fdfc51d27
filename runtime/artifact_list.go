package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// ErrNoArtifact: the run has no such artifact.
var ErrNoArtifact = errors.New("no such artifact")

// Artifact is an artifact of a run.
type Artifact struct {
	Digest toolabi.Digest
	// Size is its length in bytes. Missing says that its bytes are gone, which is damage.
	Size    int64
	Missing bool
	// Step is the first step that made it, Function what that called.
	Step     journal.Step
	Function string
	// Name is what the step was asked for, in words: the name of an artifact, the path of a file. It identifies nothing, and whoever
	// shows it cleans it.
	Name string
}

// Artifacts returns the artifacts of a run, in the order in which they were made. Each digest is there once. Whether the bytes are
// sound is not looked at. Errors: journal.ErrNotFound; journal.ErrDamaged for a log that is.
func (e *Engine) Artifacts(ctx context.Context, run string) ([]Artifact, error) {
	var all []Artifact
	seen := map[journal.Digest]bool{}
	asked := map[journal.Step]string{}
	for entry, err := range e.cfg.Journal.Read(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		if _, ok := asked[entry.Step]; !ok && entry.Note != "" && (entry.Kind == journal.Intent || entry.Kind == journal.Result) {
			asked[entry.Step] = entry.Note
		}
		if entry.Kind != journal.Result {
			continue
		}
		for _, d := range entry.Refs {
			if seen[d] {
				continue
			}
			seen[d] = true
			n, err := e.sizeOf(ctx, run, d)
			missing := errors.Is(err, journal.ErrDamaged)
			if err != nil && !missing {
				return nil, err
			}
			all = append(all, Artifact{
				Digest: toolabi.Digest(d), Size: n, Missing: missing, Step: entry.Step, Function: entry.Name, Name: asked[entry.Step],
			})
		}
	}
	return all, nil
}

// OpenArtifact returns the bytes of an artifact of a run and how many they are; an error at their end says that they are damaged.
// The caller closes it. Errors: ErrNoArtifact; journal.ErrNotFound; journal.ErrDamaged, also for an artifact that is gone.
func (e *Engine) OpenArtifact(ctx context.Context, run string, d toolabi.Digest) (io.ReadCloser, int64, error) {
	l, err := e.load(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	digest := journal.Digest(d)
	if !l.kept.has(nil, digest) {
		return nil, 0, fmt.Errorf("run %s: %w: %s", run, ErrNoArtifact, d)
	}
	n, err := e.sizeOf(ctx, run, digest)
	if err != nil {
		return nil, 0, err
	}
	r, err := e.blobs.Open(ctx, digest)
	return r, n, err
}

// sizeOf is how long an artifact is that a log names.
func (e *Engine) sizeOf(ctx context.Context, run string, d journal.Digest) (int64, error) {
	if e.blobs == nil {
		return 0, damaged(run, fmt.Errorf("it names artifact %s, and the journal has no blobs", d))
	}
	n, err := e.blobs.Stat(ctx, d)
	if errors.Is(err, journal.ErrNotFound) {
		err = damaged(run, fmt.Errorf("artifact %s: %w", d, err))
	}
	return n, err
}
