package bundle

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/wrun-dev/wrun/journal"
)

// Writer writes a bundle. It is not safe for concurrent use. After an error it must not be used any more.
type Writer struct {
	w      *bufio.Writer
	sum    hash.Hash
	counts Counts
	chunk  []byte
}

// NewWriter begins a bundle on w. It sets the header's Format.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	b := &Writer{w: bufio.NewWriterSize(w, 256<<10), sum: sha256.New()}
	if _, err := b.w.WriteString(Magic); err != nil {
		return nil, err
	}
	b.sum.Write([]byte(Magic))
	h.Format = Format
	return b, b.encode(TypeHeader, h)
}

// Log begins a run, or goes on with one.
func (b *Writer) Log(l Log) error {
	b.counts.Runs++
	return b.encode(TypeRun, l)
}

// Record writes the next record of the run, as a store keeps it: see journal.Entry.Marshal.
func (b *Writer) Record(record []byte) error {
	b.counts.Records++
	return b.frame(TypeRecord, record)
}

// Key writes a key of tool state.
func (b *Writer) Key(k Key) error {
	b.counts.Keys++
	return b.encode(TypeKey, k)
}

// Removed writes what is kept of a run that was removed.
func (b *Writer) Removed(r Removed) error {
	b.counts.Removed++
	return b.encode(TypeRemoved, r)
}

// Blob writes a blob, which r yields. Blobs come after everything else, in the order of their digests. A blob that does not have the
// length that is said, or whose reader says that it has changed, is journal.ErrDamaged.
func (b *Writer) Blob(blob Blob, r io.Reader) error {
	if err := b.encode(TypeBlob, blob); err != nil {
		return err
	}
	b.counts.Blobs++
	b.counts.BlobBytes += uint64(blob.Size)
	if b.chunk == nil {
		b.chunk = make([]byte, MaxFrame)
	}
	for left := blob.Size; left > 0; {
		n, err := io.ReadFull(r, b.chunk[:min(left, MaxFrame)])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("%w: blob %s is shorter than its %d bytes", journal.ErrDamaged, blob.Digest.Short(), blob.Size)
		}
		if err != nil {
			return err
		}
		if err := b.frame(TypeChunk, b.chunk[:n]); err != nil {
			return err
		}
		left -= int64(n)
	}
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("%w: blob %s is longer than its %d bytes", journal.ErrDamaged, blob.Digest.Short(), blob.Size)
	case err != io.EOF:
		return err
	}
	return nil
}

// End writes the last frame and flushes; it does not close what it writes to. It returns what the bundle has.
func (b *Writer) End() (Counts, error) {
	e := end{Counts: b.counts, Sum: journal.Digest(b.sum.Sum(nil))}
	if err := b.encode(TypeEnd, e); err != nil {
		return Counts{}, err
	}
	return b.counts, b.w.Flush()
}

// Counts returns what the bundle has so far.
func (b *Writer) Counts() Counts { return b.counts }

func (b *Writer) encode(t Type, v any) error {
	payload, err := encMode.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a frame: %w", err)
	}
	return b.frame(t, payload)
}

func (b *Writer) frame(t Type, payload []byte) error {
	if len(payload) > MaxFrame {
		return fmt.Errorf("a %s of %d bytes, at most %d fit into a frame", t, len(payload), MaxFrame)
	}
	head := [frameHead]byte{byte(t)}
	binary.BigEndian.PutUint32(head[1:], uint32(len(payload)))
	for _, p := range [][]byte{head[:], payload} {
		if _, err := b.w.Write(p); err != nil {
			return err
		}
		b.sum.Write(p)
	}
	return nil
}
