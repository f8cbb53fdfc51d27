package model

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// event is one event of a stream of server-sent events (HTML, section 9.2). Its data is valid until the next one is read.
type event struct {
	name string
	data []byte
}

// errEventSize is returned for an event over MaxAnswer bytes.
var errEventSize = errors.New("an event is over its size")

// eventReader reads events.
type eventReader struct {
	r      *bufio.Reader
	line   []byte
	data   []byte
	begun  bool // the first line was read
	skipLF bool // a \r ended the line before: a \n belongs to it
}

func newEventReader(r io.Reader) *eventReader { return &eventReader{r: bufio.NewReaderSize(r, 16<<10)} }

// next returns the next event that has data. One at the very end needs no empty line behind it, which some servers leave out:
// whether it is whole is seen by the JSON in it. Errors: io.EOF at the end, errEventSize, and what the reader returns.
func (e *eventReader) next() (event, error) {
	name, some := "", false
	e.data = e.data[:0]
	for {
		err := e.readLine()
		if err != nil && (err != io.EOF || len(e.line) == 0) {
			if err == io.EOF && some {
				return event{name, e.data}, nil
			}
			return event{}, err
		}
		if len(e.line) == 0 {
			if some {
				return event{name, e.data}, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(e.line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value[:min(len(value), 64)])
		case "data":
			if some {
				e.data = append(e.data, '\n')
			}
			some = true
			if len(e.data)+len(value) > MaxAnswer {
				return event{}, errEventSize
			}
			e.data = append(e.data, value...)
		}
	}
}

// readLine reads a line into line, without its end: \n, \r\n or \r. At the end of the stream it returns io.EOF, beside what
// stood there without an end.
func (e *eventReader) readLine() error {
	e.line = e.line[:0]
	for {
		c, err := e.r.ReadByte()
		if err != nil {
			return err
		}
		lf := e.skipLF && c == '\n'
		e.skipLF = c == '\r'
		switch {
		case lf:
			continue
		case c == '\n' || c == '\r':
			if !e.begun {
				e.begun, e.line = true, bytes.TrimPrefix(e.line, []byte("\xef\xbb\xbf"))
			}
			return nil
		case len(e.line) > MaxAnswer:
			return errEventSize
		}
		e.line = append(e.line, c)
	}
}
