package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Start writes the first entry of a run. The bytes of its modules are stored first, so that the run can be resumed from
// the journal alone.
//
// A run of this id that is made of the same is fine: begun is false, and Drive goes on with it. Nothing is executed.
// With claim the first commit claims the run as well, for a caller that drives it at once.
//
// Errors: *OtherRunError when the id is taken by another run; *UngrantedError when a module wants a directory that is not
// granted, *DirError when one that is cannot be used; *SecretError when it is made of something with a value in it; *LabelError; an error of journal.ValidateRun; the journal's own.
func (e *Engine) Start(ctx context.Context, run string, spec Spec, modules map[toolabi.Digest][]byte, claim bool) (begun bool, err error) {
	if err := journal.ValidateRun(run); err != nil {
		return false, err
	}
	if spec.Driver == "" {
		return false, errors.New("start: Spec.Driver is missing")
	}
	if err := e.attach(ctx, run, &spec); !errors.Is(err, journal.ErrNotFound) {
		return false, err
	}
	if err := spec.judgeGrants(); err != nil {
		return false, err
	}
	if err := validateLabels(spec.Labels); err != nil {
		return false, err
	}
	if err := e.secretInSpec(run, &spec); err != nil {
		return false, err
	}
	if err := e.storeModules(ctx, spec, modules); err != nil {
		return false, err
	}
	return e.create(ctx, run, spec, journal.Entry{}, claim)
}

// create writes the first entry of a run whose modules are stored. by says who begins it, and why.
func (e *Engine) create(ctx context.Context, run string, spec Spec, by journal.Entry, claim bool) (begun bool, err error) {
	body, err := toolabi.Encode(spec)
	if err != nil {
		return false, err
	}
	now := e.cfg.Now().UnixNano()
	created := journal.Entry{Kind: journal.Created, Name: spec.Driver, Time: now, By: by.By, Note: by.Note}
	created = e.unsaid(created)
	if e.blobs != nil {
		created.Refs = spec.refs()
	}
	if err := journal.SetBody(ctx, e.blobs, &created, body); err != nil {
		return false, err
	}
	first := []journal.Entry{created}
	for _, l := range labelEntries(&journal.State{}, spec.Labels, nil) {
		l.Time = now
		first = append(first, l)
	}
	if claim {
		c, err := e.claim(now)
		if err != nil {
			return false, err
		}
		first = append(first, c)
	}
	err = e.cfg.Journal.Append(ctx, run, 0, first...)
	if errors.Is(err, journal.ErrConflict) { // someone was faster
		return false, e.attach(ctx, run, &spec)
	}
	if err != nil {
		return false, &JournalError{Run: run, Err: err}
	}
	return true, nil
}

// attach says why the run of this id is not the one that spec makes, or nil.
func (e *Engine) attach(ctx context.Context, run string, spec *Spec) error {
	existing, err := e.Spec(ctx, run)
	if err != nil {
		return err
	}
	if d := existing.differs(spec); d != "" {
		return &OtherRunError{Run: run, Differs: d}
	}
	return nil
}

func (e *Engine) storeModules(ctx context.Context, spec Spec, modules map[toolabi.Digest][]byte) error {
	for _, m := range spec.Modules {
		wasm, ok := modules[m.Digest]
		if !ok {
			return fmt.Errorf("start: the bytes of module %s are missing", m.Name)
		}
		if e.blobs == nil {
			continue // the invoker knows its modules by itself
		}
		if stored(ctx, e.blobs, journal.Digest(m.Digest)) {
			continue
		}
		d, _, err := e.blobs.Put(ctx, bytes.NewReader(wasm))
		if err != nil {
			return fmt.Errorf("store module %s: %w", m.Name, err)
		}
		if toolabi.Digest(d) != m.Digest {
			return fmt.Errorf("start: the bytes of module %s have digest %s, not %s", m.Name, d, m.Digest)
		}
	}
	return nil
}

// stored says whether a blob is there, whole.
func stored(ctx context.Context, blobs journal.Blobs, d journal.Digest) bool {
	r, err := blobs.Open(ctx, d)
	if err != nil {
		return false
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err == nil
}

// Spec returns what a run is made of. Errors: journal.ErrNotFound, journal.ErrDamaged.
func (e *Engine) Spec(ctx context.Context, run string) (*Spec, error) {
	for entry, err := range e.cfg.Journal.Read(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		return e.readSpec(ctx, entry)
	}
	return nil, fmt.Errorf("run %s: %w", run, journal.ErrNotFound)
}

func (e *Engine) readSpec(ctx context.Context, created journal.Entry) (*Spec, error) {
	body, err := journal.Body(ctx, e.blobs, created)
	if err != nil {
		return nil, err
	}
	s := new(Spec)
	if err := toolabi.Decode(body, s); err != nil {
		return nil, fmt.Errorf("%w: what the run is made of cannot be read: %w", journal.ErrDamaged, err)
	}
	return s, nil
}
