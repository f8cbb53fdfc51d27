package standin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Lines is an append-only file of JSON lines. A line that Append returned for survives a crash; the end of one that was not written
// whole is cut off when the file is opened next. Its methods are not called concurrently.
type Lines struct {
	f    *os.File
	size int64 // up to where the file is known to be good
	bad  error // set for good once the file cannot be trusted any more
}

// ErrClosed: the file is closed.
var ErrClosed = errors.New("it is closed")

// OpenLines opens a file, which is made when it is missing, and reads what is in it as ParseLines does.
func OpenLines(name string, read func(n int, line []byte) error) (*Lines, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	size, err := ParseLines(b, read)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	if d, err := os.Open(filepath.Dir(name)); err == nil { // the name of a new file, where the system can sync directories
		_ = d.Sync()
		_ = d.Close()
	}
	return &Lines{f: f, size: size}, nil
}

// ParseLines calls read for each whole line, counted from 1, and returns how many bytes they take; what follows the last line end is
// left out. An error of read ends it.
func ParseLines(b []byte, read func(n int, line []byte) error) (size int64, err error) {
	for n := 1; ; n++ {
		line, rest, ok := bytes.Cut(b, []byte{'\n'})
		if !ok {
			return size, nil
		}
		if err := read(n, line); err != nil {
			return 0, fmt.Errorf("line %d: %w", n, err)
		}
		size, b = size+int64(len(line))+1, rest
	}
}

// Append writes a line and syncs it. After an error it is not known whether the line is on the disk, so nothing is appended to it any
// more, and every Append returns that error.
func (l *Lines) Append(v any) error {
	if l.bad != nil {
		return l.bad
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if _, err = l.f.WriteAt(b, l.size); err == nil {
		err = l.f.Sync()
	}
	if err != nil {
		l.bad = err
		return err
	}
	l.size += int64(len(b))
	return nil
}

// Close closes the file. It may be called again.
func (l *Lines) Close() error {
	if errors.Is(l.bad, ErrClosed) {
		return nil
	}
	l.bad = ErrClosed
	return l.f.Close()
}
