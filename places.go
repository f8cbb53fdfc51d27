package wrun

import (
	"context"
	"errors"
	"sync"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// places are sandboxes in which modules start as in other journals. They are made when they are first needed.
type places struct {
	mu sync.Mutex
	of map[journal.Digest]*sandbox.Sandbox // guarded by mu: by the id of the journal
}

// inJournal is what enters modules as they are entered in the journal of an id.
func (h *Host) inJournal(ctx context.Context, id journal.Digest) (runtime.Invoker, error) {
	if h.inside.Seed == id {
		return h.sandbox, nil
	}
	h.places.mu.Lock()
	defer h.places.mu.Unlock()
	if s := h.places.of[id]; s != nil {
		return s, nil
	}
	cfg := h.inside
	cfg.Seed = id
	s, err := sandbox.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if h.places.of == nil {
		h.places.of = map[journal.Digest]*sandbox.Sandbox{}
	}
	h.places.of[id] = s
	return s, nil
}

func (p *places) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.of {
		errs = append(errs, s.Close(context.Background()))
	}
	return errors.Join(errs...)
}
