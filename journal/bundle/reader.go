package bundle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/wrun-dev/wrun/journal"
)

// Reader reads a bundle. It is not safe for concurrent use.
type Reader struct {
	r      *bufio.Reader
	sum    hash.Hash
	header Header
	counts Counts
	buf    []byte
	read   int64

	log     Log    // the run that records belong to
	next    uint64 // the position of the next one
	blob    Blob   // the blob that chunks belong to
	left    int64  // how much of it is still to come
	content hash.Hash
	last    Type
	err     error // what every later call answers
}

// Frame is a part of a bundle. Which fields are set depends on its type; what is in them is valid until the next call of Next.
type Frame struct {
	Type Type
	// Log is the run, of runs and of records; with a record From is its position.
	Log Log
	// Record is the record.
	Record []byte
	// Key, Removed and Blob are those of their types.
	Key     Key
	Removed Removed
	Blob    Blob
}

// NewReader begins to read a bundle. Errors: ErrForeign, ErrDamaged, ErrNewer, those of r.
func NewReader(r io.Reader) (*Reader, error) {
	b := &Reader{r: bufio.NewReaderSize(r, 256<<10), sum: sha256.New()}
	magic := make([]byte, len(Magic))
	n, err := io.ReadFull(b.r, magic)
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err
	case n == 0:
		return nil, fmt.Errorf("%w: it is empty", ErrForeign)
	case err != nil && bytes.HasPrefix([]byte(Magic), magic[:n]):
		return nil, fmt.Errorf("%w: it is cut off after %d bytes", ErrDamaged, n)
	case string(magic) != Magic:
		return nil, ErrForeign
	}
	b.sum.Write(magic)
	b.read = int64(n)
	t, payload, err := b.frame()
	if err != nil {
		return nil, err
	}
	if t != TypeHeader {
		return nil, b.damaged("it begins with a frame of type %d", t)
	}
	var head struct {
		Format uint64 `cbor:"1,keyasint"`
	}
	if err := lenient.Unmarshal(payload, &head); err == nil && head.Format > Format {
		return nil, fmt.Errorf("%w: it has format %d, this version reads up to %d", ErrNewer, head.Format, Format)
	}
	if err := b.decode(payload, &b.header); err != nil {
		return nil, err
	}
	if h := b.header; h.Format == 0 || h.Of != Backup && h.Of != Run || (h.Of == Run) != (h.Run != "") || h.Journal.IsZero() || h.Schema == 0 {
		return nil, b.damaged("its header contradicts itself")
	}
	b.last = TypeHeader
	return b, nil
}

// Header returns what the bundle says of itself.
func (b *Reader) Header() Header { return b.header }

// Offset returns how many bytes were read.
func (b *Reader) Offset() int64 { return b.read }

// Counts returns what was read so far.
func (b *Reader) Counts() Counts { return b.counts }

// Next returns the next frame. What was not read of the blob before is read and checked first. io.EOF says that the bundle has come to
// its end, and that all of it was as it was written. Errors: ErrDamaged, those of the reader below.
func (b *Reader) Next() (Frame, error) {
	if b.err != nil {
		return Frame{}, b.err
	}
	f, err := b.advance()
	if err != nil {
		b.err = err
	}
	return f, err
}

func (b *Reader) advance() (f Frame, err error) {
	if err := b.finishBlob(); err != nil {
		return f, err
	}
	var payload []byte
	if f.Type, payload, err = b.frame(); err != nil {
		return f, err
	}
	if b.last == TypeBlob && f.Type < TypeBlob {
		return f, b.damaged("a %s follows the blobs", f.Type)
	}
	switch f.Type {
	case TypeRun:
		b.log = Log{}
		err = b.decode(payload, &b.log)
		b.next, f.Log = b.log.From, b.log
		b.counts.Runs++
		if err == nil && journal.ValidateRun(b.log.Run) != nil {
			err = b.damaged("a run has the id %.140q", b.log.Run)
		}
	case TypeRecord:
		if b.log.Run == "" {
			return f, b.damaged("a record belongs to no run")
		}
		if len(payload) <= len(journal.Digest{}) || len(payload) > len(journal.Digest{})+journal.MaxEntry {
			return f, b.damaged("a record has %d bytes", len(payload))
		}
		f.Log, f.Record = Log{b.log.Run, b.next}, payload
		b.next++
		b.counts.Records++
	case TypeKey:
		err = b.decode(payload, &f.Key)
		b.counts.Keys++
		if k := f.Key; err == nil && (k.Space == "" || len(k.Space) > journal.MaxSpace || k.Key == "" || len(k.Key) > journal.MaxKey ||
			k.Version == 0 || k.Deleted && k.Value != nil) {
			err = b.damaged("a key of tool state contradicts itself")
		}
	case TypeRemoved:
		err = b.decode(payload, &f.Removed)
		b.counts.Removed++
		if err == nil && journal.ValidateRun(f.Removed.Run) != nil {
			err = b.damaged("a removed run has the id %.140q", f.Removed.Run)
		}
	case TypeBlob:
		err = b.beginBlob(payload)
		f.Blob = b.blob
	case TypeEnd:
		return f, b.finish(payload)
	default:
		return f, b.damaged("a frame of type %d is where none may be", f.Type)
	}
	b.last = f.Type
	return f, err
}

func (b *Reader) beginBlob(payload []byte) error {
	before := b.blob.Digest
	b.blob = Blob{}
	if err := b.decode(payload, &b.blob); err != nil {
		return err
	}
	if b.blob.Size < 0 || b.last == TypeBlob && bytes.Compare(b.blob.Digest[:], before[:]) <= 0 {
		return b.damaged("a blob is out of order, or has a length below 0")
	}
	b.counts.Blobs++
	b.counts.BlobBytes += uint64(b.blob.Size)
	b.left, b.content = b.blob.Size, sha256.New()
	return nil
}

// Content reads the blob of the last frame. It ends with io.EOF only when the blob was right.
func (b *Reader) Content() io.Reader { return &content{b: b} }

type content struct {
	b    *Reader
	rest []byte
}

func (c *content) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.b.err != nil {
			return 0, c.b.err
		}
		if c.b.left == 0 {
			if err := c.b.finishBlob(); err != nil {
				c.b.err = err
				return 0, err
			}
			return 0, io.EOF
		}
		var err error
		if c.rest, err = c.b.nextChunk(); err != nil {
			c.b.err = err
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (b *Reader) nextChunk() ([]byte, error) {
	t, payload, err := b.frame()
	if err != nil {
		return nil, err
	}
	if t != TypeChunk || len(payload) == 0 || int64(len(payload)) > b.left {
		return nil, b.damaged("a frame of type %d with %d bytes, where %d of blob %s are missing", t, len(payload), b.left, b.blob.Digest.Short())
	}
	b.left -= int64(len(payload))
	b.content.Write(payload)
	return payload, nil
}

// finishBlob reads what is left of a blob, and checks it.
func (b *Reader) finishBlob() error {
	if b.content == nil {
		return nil
	}
	for b.left > 0 {
		if _, err := b.nextChunk(); err != nil {
			return err
		}
	}
	got := journal.Digest(b.content.Sum(nil))
	b.content = nil
	if got != b.blob.Digest {
		return b.damaged("blob %s has other bytes", b.blob.Digest.Short())
	}
	return nil
}

// finish judges the last frame. What follows it does not belong there.
func (b *Reader) finish(payload []byte) error {
	var e end
	if err := b.decode(payload, &e); err != nil {
		return err
	}
	// The sum is of what precedes the frame, so it was taken before this one was added to it.
	if e.Sum != journal.Digest(b.sum.Sum(nil)) {
		return b.damaged("its digest is not that of its bytes")
	}
	if e.Counts != b.counts {
		return b.damaged("it has %+v, and says %+v", b.counts, e.Counts)
	}
	if _, err := b.r.ReadByte(); err == nil {
		return b.damaged("something follows its end")
	} else if err != io.EOF {
		return err
	}
	return io.EOF
}

// frame reads a frame. The end is not part of the sum that it holds.
func (b *Reader) frame() (Type, []byte, error) {
	var head [frameHead]byte
	if err := b.full(head[:]); err != nil {
		return 0, nil, err
	}
	t, n := Type(head[0]), int(binary.BigEndian.Uint32(head[1:]))
	if t == 0 || t > TypeEnd {
		return 0, nil, b.damaged("a frame of the unknown type %d", t)
	}
	if n > MaxFrame {
		return 0, nil, b.damaged("a %s of %d bytes, at most %d fit into a frame", t, n, MaxFrame)
	}
	if cap(b.buf) < n {
		b.buf = make([]byte, n)
	}
	payload := b.buf[:n]
	if err := b.full(payload); err != nil {
		return 0, nil, err
	}
	if t != TypeEnd {
		b.sum.Write(head[:])
		b.sum.Write(payload)
	}
	return t, payload, nil
}

func (b *Reader) full(p []byte) error {
	n, err := io.ReadFull(b.r, p)
	b.read += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it is cut off after %d bytes", ErrDamaged, b.read)
	}
	return err
}

// decode reads a payload that can be written in one way only.
func (b *Reader) decode(payload []byte, v any) error {
	if err := decMode.Unmarshal(payload, v); err != nil {
		return b.damaged("a frame cannot be decoded: %v", err)
	}
	if again, err := encMode.Marshal(v); err != nil || !bytes.Equal(again, payload) {
		return b.damaged("a frame is not in the deterministic encoding")
	}
	return nil
}

func (b *Reader) damaged(format string, args ...any) error {
	return fmt.Errorf("%w: at byte %d: %s", ErrDamaged, b.read, fmt.Sprintf(format, args...))
}

// Check reads a whole bundle. Errors: those of NewReader and Next.
func Check(r io.Reader) (Header, Counts, error) {
	b, err := NewReader(r)
	if err != nil {
		return Header{}, Counts{}, err
	}
	for {
		if _, err := b.Next(); errors.Is(err, io.EOF) {
			return b.header, b.counts, nil
		} else if err != nil {
			return b.header, b.counts, err
		}
	}
}
