package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

var _ hostfuncs.Artifacts = (*holding)(nil)

// Put stores bytes as a blob, which survives a crash when Put returns, and notes it for the outcome. Only the result that
// names it makes it an artifact of the run: a blob without one belongs to nobody. So that a tool whose steps fail behind it cannot
// fill the disk, there may be no more of those than of artifacts.
func (s *holding) Put(ctx context.Context, r io.Reader) (toolabi.Digest, int64, error) {
	if count, bytes := s.run.kept.inVain(); count >= toolabi.MaxArtifacts || bytes > s.most {
		return toolabi.Digest{}, 0, toolabi.NewError(toolabi.TooLarge, fmt.Sprintf(
			"steps of the run that failed have stored %d artifacts of %d bytes in vain, and no more are stored until the run is resumed", count, bytes))
	}
	s.room.free() // it is a part of what comes of the use
	src := &source{r: r}
	d, n, err := s.run.engine.blobs.Put(ctx, src)
	switch {
	case src.err != nil:
		return toolabi.Digest{}, 0, src.err
	case err != nil:
		return toolabi.Digest{}, 0, s.fail(ctx, fmt.Errorf("store an artifact: %w", err))
	}
	s.run.kept.hold(s, d, uint64(n))
	return toolabi.Digest(d), n, nil
}

// source remembers why its reader broke off.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// Open returns an artifact of the run. One that the log names and that is not there, or not whole, is damage.
func (s *holding) Open(ctx context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	digest := journal.Digest(d)
	if !s.run.kept.has(s, digest) {
		return nil, 0, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("the run has no artifact %s", digest))
	}
	size, err := s.measure(ctx, digest)
	if err != nil {
		return nil, 0, err
	}
	blob, err := s.run.engine.blobs.Open(ctx, digest)
	if err != nil {
		return nil, 0, s.lost(ctx, digest, err)
	}
	return &artifact{ctx: ctx, blob: blob, left: int64(size), fail: func(err error) error { return s.lost(ctx, digest, err) }}, int64(size), nil
}

// Usage counts the run's artifacts and those that are being made.
func (s *holding) Usage(ctx context.Context) (count int, bytes uint64, err error) {
	for {
		count, bytes, unsized := s.run.kept.usage(s)
		if len(unsized) == 0 {
			return count, bytes, nil
		}
		for _, d := range unsized {
			if _, err := s.measure(ctx, d); err != nil {
				return 0, 0, err
			}
		}
	}
}

// files counts the run's files but for one.
func (s *holding) files(ctx context.Context, without string) (count int, bytes uint64, err error) {
	for d, n := range s.run.kept.without(without) {
		size, err := s.measure(ctx, d)
		if err != nil {
			return 0, 0, err
		}
		count, bytes = count+n, bytes+uint64(n)*size
	}
	return count, bytes, nil
}

// measure returns how long an artifact is.
func (s *holding) measure(ctx context.Context, d journal.Digest) (uint64, error) {
	if n, ok := s.run.kept.size(d); ok {
		return n, nil
	}
	n, err := s.run.engine.blobs.Stat(ctx, d)
	if err != nil {
		return 0, s.lost(ctx, d, err)
	}
	s.run.kept.measured(d, uint64(n))
	return uint64(n), nil
}

// lost is the error of an artifact that cannot be read: damage, where it is not what it has to be.
func (s *holding) lost(ctx context.Context, d journal.Digest, err error) error {
	if errors.Is(err, journal.ErrNotFound) {
		err = damagedArtifact(d, err)
	}
	return s.fail(ctx, err)
}

// artifact reads an artifact. Bytes that are too few or too many, and those that the blob's reader finds damaged, end the run.
type artifact struct {
	ctx  context.Context
	blob io.ReadCloser
	left int64
	fail func(error) error
}

func (a *artifact) Read(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := a.blob.Read(p)
	a.left -= int64(n)
	switch {
	case err == io.EOF && a.left != 0, a.left < 0:
		return 0, a.fail(fmt.Errorf("%w: an artifact has another length than before", journal.ErrDamaged))
	case err != nil && err != io.EOF:
		return n, a.fail(err)
	}
	return n, err
}

func (a *artifact) Close() error { return a.blob.Close() }
