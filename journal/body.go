package journal

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// SetBody makes body the body of e: inline when it is short, else as a blob that is stored before SetBody returns.
// Without blobs a long body is refused with ErrInvalid.
func SetBody(ctx context.Context, blobs Blobs, e *Entry, body []byte) error {
	e.Body, e.Blob, e.Size = nil, Digest{}, 0
	if len(body) <= MaxInline {
		e.Body = body
		return nil
	}
	if blobs == nil {
		return fmt.Errorf("%w: a body of %d bytes needs a journal with blobs", ErrInvalid, len(body))
	}
	d, n, err := blobs.Put(ctx, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("store a body of %d bytes: %w", len(body), err)
	}
	e.Blob, e.Size = d, n
	return nil
}

// Body returns an entry's body, from its blob when it has one. Errors: ErrDamaged, also when the blob is missing.
func Body(ctx context.Context, blobs Blobs, e Entry) ([]byte, error) {
	if e.Blob.IsZero() {
		return e.Body, nil
	}
	if blobs == nil {
		return nil, fmt.Errorf("%w: entry %d names a blob and the journal has none", ErrDamaged, e.Seq)
	}
	b, err := ReadBlob(ctx, blobs, e.Blob)
	if err != nil {
		return nil, fmt.Errorf("%w: body of entry %d: %w", ErrDamaged, e.Seq, err)
	}
	return b, nil
}

// ReadBlob returns a whole blob.
func ReadBlob(ctx context.Context, blobs Blobs, d Digest) ([]byte, error) {
	r, err := blobs.Open(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", d.Short(), err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", d.Short(), err)
	}
	return b, nil
}
