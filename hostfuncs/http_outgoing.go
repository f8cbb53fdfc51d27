package hostfuncs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// outgoing is a request with the values of its secrets, as it goes onto the wire and nowhere else.
type outgoing struct {
	head []byte
	body io.Reader
	size int64     // of the body, in bytes
	from io.Closer // the artifact that the body is read from; nil for what is in memory
}

// firstPart is how much of a body is written together with the head, in bytes.
const firstPart = 32 << 10

// fill makes what is sent of r. The secrets that its reply could hold are known afterwards.
func (h *client) fill(ctx context.Context, c Call, r *request) (*outgoing, error) {
	if err := h.secrets.Ready(ctx, c, r.function, r.origin); err != nil {
		return nil, err
	}
	headers, err := h.fillHeaders(ctx, c, r)
	if err != nil {
		return nil, err
	}
	if r.upload != nil {
		return r.openUpload(ctx, c, headers)
	}
	body := r.body
	if bytes.Contains(body, []byte(secretBegin)) {
		filled, err := h.secrets.Fill(ctx, c, r.function, r.origin, string(body), toolabi.MaxHTTPBody)
		if err != nil {
			return nil, err
		}
		body = []byte(filled)
	}
	size := int64(len(body))
	return &outgoing{head: r.layOut(c, headers, size), body: bytes.NewReader(body), size: size}, nil
}

const secretBegin = "{{secret:"

// fillHeaders returns the headers of r with the values of their secrets, which are judged again.
func (h *client) fillHeaders(ctx context.Context, c Call, r *request) ([]toolabi.Header, error) {
	headers, total := make([]toolabi.Header, len(r.headers)), 0
	for i, line := range r.headers {
		if strings.Contains(line.Value, secretBegin) {
			var err error
			if line.Value, err = h.secrets.Fill(ctx, c, r.function, r.origin, line.Value, toolabi.MaxHTTPHeaderBytes); err != nil {
				return nil, err
			}
			if !isHeaderValue(line.Value) {
				return nil, invalidf("%s: a secret in header %s cannot stand in one: it has a control character, or a blank at its begin or end",
					r.function, toolabi.CleanLine(line.Name, 80))
			}
		}
		headers[i] = line
		total += headerLen(line)
	}
	if total > toolabi.MaxHTTPHeaderBytes {
		return nil, tooLargef("%s: headers over %d bytes with their secrets filled in", r.function, toolabi.MaxHTTPHeaderBytes)
	}
	return headers, nil
}

// openUpload makes what is sent of a request whose body is an artifact.
func (r *request) openUpload(ctx context.Context, c Call, headers []toolabi.Header) (*outgoing, error) {
	if c.Artifacts == nil {
		return nil, noArtifacts(r.function)
	}
	body, size, err := c.Artifacts.Open(ctx, *r.upload)
	if err != nil {
		return nil, err
	}
	if size > toolabi.MaxArtifact {
		body.Close()
		return nil, tooLargef("%s: an artifact of %d bytes, at most %d are sent", r.function, size, toolabi.MaxArtifact)
	}
	return &outgoing{head: r.layOut(c, headers, size), body: &whole{r: body, left: size}, size: size, from: body}, nil
}

func (o *outgoing) close() {
	if o.from != nil {
		o.from.Close()
	}
}

// first returns the head and the begin of the body. An error says what is wrong with the body.
func (o *outgoing) first() ([]byte, error) {
	b := append(o.head[:len(o.head):len(o.head)], make([]byte, min(o.size, firstPart))...)
	_, err := io.ReadFull(o.body, b[len(o.head):])
	return b, err
}

// rest writes what first left. An error says what is wrong with the body; that it could not be written shows elsewhere.
func (o *outgoing) rest(w io.Writer) error {
	io.CopyBuffer(w, o.body, make([]byte, firstPart))
	if a, ok := o.body.(*whole); ok {
		return a.damage
	}
	return nil
}

// whole yields as many bytes as an artifact is said to have. The last one comes only once the artifact ended behind it, without an
// error: what is damaged is never sent to its end, so that no server takes it for the request.
type whole struct {
	r      io.Reader
	left   int64
	damage error
}

var errShort, errLong = errors.New("it is shorter than it was"), errors.New("it is longer than it was")

func (a *whole) Read(b []byte) (int, error) {
	switch {
	case a.damage != nil:
		return 0, a.damage
	case a.left == 0:
		return 0, io.EOF
	case len(b) == 0:
		return 0, nil
	case a.left == 1:
		return a.last(b)
	}
	n, err := a.r.Read(b[:min(int64(len(b)), a.left-1)])
	a.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = errShort
	}
	a.damage = err
	return n, err
}

func (a *whole) last(b []byte) (int, error) {
	var two [2]byte
	n, err := io.ReadFull(a.r, two[:])
	switch {
	case n == 1 && errors.Is(err, io.ErrUnexpectedEOF):
		b[0], a.left = two[0], 0
		return 1, nil
	case n == 2:
		err = errLong
	case errors.Is(err, io.EOF):
		err = errShort
	}
	a.damage = err
	return 0, err
}

// damaged is the error of a request whose body cannot be read to its end.
func (r *request) damaged(sent int64, err error) error {
	e := toolabi.NewError(toolabi.Internal, toolabi.CleanLine(fmt.Sprintf(
		"%s: %s: the artifact cannot be sent: %v; %d bytes were sent, and not all of it", r.function, r.origin, err, sent), 500))
	e.Detail = "artifact"
	if sent > 0 {
		e.Effect = toolabi.EffectUnknown
	}
	return e
}
