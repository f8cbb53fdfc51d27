package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// record is one line of the file: a charge or a refund, with when it was accepted in milliseconds since 1970 and the
// digest of the request if it came with a key. Lines of earlier versions have no time.
type record struct {
	Charge *Charge `json:"charge,omitempty"`
	Refund *Refund `json:"refund,omitempty"`
	Digest []byte  `json:"digest,omitempty"`
	At     int64   `json:"at,omitempty"`
}

// file is an append-only file of JSON lines. A line that was acknowledged survives a crash; the end of a line that was
// not is cut off when the file is opened next.
type file struct {
	f    *os.File
	size int64 // up to where the file is known to be good
	bad  error // set for good once the file cannot be trusted any more
}

func openFile(name string) (*file, []record, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	records, size, err := parseRecords(b)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	if err := f.Truncate(size); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	syncDir(filepath.Dir(name))
	return &file{f: f, size: size}, records, nil
}

// syncDir makes the name of a new file durable where the system can do that for directories.
func syncDir(name string) {
	if d, err := os.Open(name); err == nil {
		d.Sync()
		d.Close()
	}
}

// parseRecords reads whole lines and returns how many bytes they take; what follows the last line end is left out.
func parseRecords(b []byte) (records []record, size int64, err error) {
	for n := 1; ; n++ {
		line, rest, ok := bytes.Cut(b, []byte{'\n'})
		if !ok {
			return records, size, nil
		}
		var r record
		if err := decodeStrict(line, &r); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", n, err)
		}
		if (r.Charge == nil) == (r.Refund == nil) {
			return nil, 0, fmt.Errorf("line %d: want either a charge or a refund", n)
		}
		if len(r.Digest) != 0 && len(r.Digest) != 32 {
			return nil, 0, fmt.Errorf("line %d: the digest has %d bytes, want 32", n, len(r.Digest))
		}
		records, size, b = append(records, r), size+int64(len(line))+1, rest
	}
}

// append writes one record and syncs it.
func (f *file) append(r record) error {
	if f.bad != nil {
		return f.bad
	}
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	b = append(b, '\n')
	if _, err = f.f.WriteAt(b, f.size); err == nil {
		err = f.f.Sync()
	}
	if err != nil { // whether the line is on disk is not known, so nothing may be appended to it
		f.bad = fmt.Errorf("write ledger: %w", err)
		return f.bad
	}
	f.size += int64(len(b))
	return nil
}

// close may be called again.
func (f *file) close() error {
	if errors.Is(f.bad, errClosed) {
		return nil
	}
	f.bad = errClosed
	return f.f.Close()
}

var errClosed = errors.New("write ledger: it is closed")
