package hostfuncs

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// contentEncoding says whether a body is encoded, and whether by gzip once and nothing else.
func contentEncoding(h http.Header) (encoded, once bool) {
	var list []string
	for _, value := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(value, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
				list = append(list, name)
			}
		}
	}
	return len(list) > 0, len(list) == 1 && (list[0] == "gzip" || list[0] == "x-gzip")
}

// inflated undoes one layer of gzip. What is behind it is an error, and so is a body that grows beyond all likelihood: a bomb
// ends there, and not only where it has filled what a body may be.
type inflated struct {
	in       *arriving
	buffered *bufio.Reader // over in
	gzip     *gzip.Reader
	n        int64 // bytes that came out
	status   int
}

func (g *inflated) Read(b []byte) (n int, err error) {
	if g.gzip == nil {
		if g.gzip, err = gzip.NewReader(g.buffered); err != nil {
			return 0, truncated(err)
		}
		g.gzip.Multistream(false)
	}
	n, err = g.gzip.Read(b)
	g.n += int64(n)
	switch {
	case g.n > toolabi.MinHTTPInflation && g.n/toolabi.MaxHTTPInflation > g.in.n:
		return 0, oversized(g.status, fmt.Sprintf("a gzip that becomes more than %d times as long", toolabi.MaxHTTPInflation))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, truncated(err)
	case err == io.EOF:
		return n, g.end()
	}
	return n, err
}

// end is what follows a gzip: the end, or an error.
func (g *inflated) end() error {
	_, err := g.buffered.ReadByte()
	if err == nil {
		return badEncoding(g.status, "something behind its gzip")
	}
	return err
}

// truncated keeps the end of a body within its gzip from passing for the end of a reply.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the gzip is not complete")
	}
	return err
}

// badEncoding is a reply that came whole and cannot be decoded. Its status says that the server has acted.
func badEncoding(status int, what string) error {
	return &replyError{code: toolabi.Unavailable, detail: "encoding", text: fmt.Sprintf("the server answered with status %d and %s", status, what), answered: true}
}
