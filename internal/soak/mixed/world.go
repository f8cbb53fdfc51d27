package mixed

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// roomy and tight are the budgets of the two sandboxes that stay, in bytes.
	roomyBudget = 1 << 30
	tightBudget = 48 << 20
	// mostNewcomers is how many modules come new to the sandbox that stays. A sandbox keeps what it has loaded, so that more
	// of them would be growth.
	mostNewcomers = 32
)

// world is the two sandboxes that stay.
type world struct {
	shelf        *shelf
	roomy, tight *sandbox.Sandbox

	mu    sync.Mutex
	came  []*toolabi.Digest // guarded by mu
	admit bool              // guarded by mu: more may come
}

// openWorld opens both, with every module loaded that is not a newcomer.
func (s *soak) openWorld(ctx context.Context) (*world, error) {
	w := &world{shelf: s.shelf, admit: true}
	for box, budget := range map[**sandbox.Sandbox]uint64{&w.roomy: roomyBudget, &w.tight: tightBudget} {
		b, err := sandbox.New(ctx, sandbox.Config{Source: s.shelf.source, CacheDir: s.shelf.cache, Seed: [32]byte{1}, MemoryBudget: budget})
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		*box = b
		for _, k := range s.kinds {
			if k.module == nil {
				continue
			}
			if err := b.Prepare(ctx, *k.module); err != nil {
				return nil, errors.Join(err, w.close())
			}
		}
	}
	return w, nil
}

func (w *world) close() error {
	var errs []error
	for _, box := range []*sandbox.Sandbox{w.roomy, w.tight} {
		if box != nil {
			errs = append(errs, box.Close(context.Background()))
		}
	}
	return errors.Join(errs...)
}

// newcomer is a module that nobody has seen before, or one that came so.
func (w *world) newcomer(r *rand.Rand) *toolabi.Digest {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.came); n == 0 || w.admit && n < mostNewcomers && r.IntN(2) == 0 {
		w.came = append(w.came, w.shelf.add(newcomer(n)))
		return w.came[n]
	}
	return w.came[r.IntN(len(w.came))]
}

// known is a newcomer's place in the tight sandbox: the first one, always.
func (w *world) known(*rand.Rand) *toolabi.Digest { return w.shelf.add(newcomer(0)) }

// settle lets no more newcomers come.
func (w *world) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.admit = false
}

func (w *world) newcomers() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.came)
}
