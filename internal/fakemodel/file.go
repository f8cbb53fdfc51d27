package fakemodel

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// file is an append-only file of bills, one a line. A line that was written survives a crash; the end of one that was not
// written whole is cut off when the file is opened next.
type file struct {
	f    *os.File
	size int64 // up to where the file is known to be good
	bad  error // set for good once the file cannot be trusted any more
}

func openFile(name string) (*file, []Bill, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	bills, size, err := parseBills(b)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	if d, err := os.Open(filepath.Dir(name)); err == nil { // the name of a new file, where the system can sync directories
		d.Sync()
		d.Close()
	}
	return &file{f: f, size: size}, bills, nil
}

// parseBills reads whole lines and returns how many bytes they take; what follows the last line end is left out.
func parseBills(b []byte) (bills []Bill, size int64, err error) {
	for n := 1; ; n++ {
		line, rest, ok := bytes.Cut(b, []byte{'\n'})
		if !ok {
			return bills, size, nil
		}
		var bill Bill
		if err := decodeExactly(line, &bill); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", n, err)
		}
		if digest, err := hex.DecodeString(bill.Digest); bill.N != n || err != nil || len(digest) != 32 {
			return nil, 0, fmt.Errorf("line %d: this is not bill %d", n, n)
		}
		bills, size, b = append(bills, bill), size+int64(len(line))+1, rest
	}
}

// append writes one bill and syncs it.
func (f *file) append(bill Bill) error {
	if f.bad != nil {
		return f.bad
	}
	b, err := json.Marshal(bill)
	if err != nil {
		return fmt.Errorf("encode a bill: %w", err)
	}
	b = append(b, '\n')
	if _, err = f.f.WriteAt(b, f.size); err == nil {
		err = f.f.Sync()
	}
	if err != nil { // whether the line is on disk is not known, so nothing may be appended to it
		f.bad = fmt.Errorf("write a bill: %w", err)
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

var errClosed = errors.New("write a bill: the file is closed")
