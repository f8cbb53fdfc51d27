package wrun

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
)

// Replay enters the modules of a run's calls once more, answers them from the log, and says what each does differently. Nothing is
// executed, written or claimed. See runtime.Engine.Replay; opts.Tools are modules that were added.
func (h *Host) Replay(ctx context.Context, run string, opts runtime.ReplayOptions) iter.Seq2[runtime.Replayed, error] {
	return func(yield func(runtime.Replayed, error) bool) {
		h.mu.Lock()
		from, unpacked := h.unpacked[run]
		h.mu.Unlock()
		if unpacked && opts.Invoker == nil {
			var err error
			if opts.Invoker, err = h.inJournal(ctx, from); err != nil {
				yield(runtime.Replayed{}, err)
				return
			}
		}
		for res, err := range h.engine.Replay(ctx, run, opts) {
			if !yield(res, err) {
				return
			}
		}
	}
}

// ShowRequest is the request of a host function as JSON; ok is false where it has no such form.
func (h *Host) ShowRequest(function string, request []byte) (shown []byte, ok bool) {
	return h.engine.ShowRequest(function, request)
}

// ShowReply is the reply of a host function as JSON; ok is false where it has no such form.
func (h *Host) ShowReply(function string, reply []byte) (shown []byte, ok bool) {
	return h.engine.ShowReply(function, reply)
}

// OpenBundle opens the one run of a bundle that in yields, where it can be looked at and replayed, and not driven. It is unpacked
// into a directory of its own, which Close removes. Journal, Create and the fields about other processes are not used of cfg.
//
// Errors: those of Host.Import.
func OpenBundle(ctx context.Context, cfg Config, in io.Reader, opts boltdb.ImportOptions) (h *Host, of boltdb.Imported, err error) {
	dir, err := os.MkdirTemp("", "wrun-bundle-") // mode 0700
	if err != nil {
		return nil, of, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
			h = nil
		}
	}()
	cfg.Journal, cfg.Create = filepath.Join(dir, "journal.db"), true
	if h, err = Open(ctx, cfg); err != nil {
		return nil, of, err
	}
	opts.Plain = true
	if of, err = h.Import(ctx, in, opts); err != nil {
		return nil, of, errors.Join(err, h.Close())
	}
	h.dir = dir
	return h, of, nil
}
