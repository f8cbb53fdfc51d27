package hostfuncs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// maxInterim is how many 1xx replies may come before the final one.
	maxInterim = 16
	// maxStatusLine is the longest status line, in bytes.
	maxStatusLine = 1 << 10
)

// readReply reads up to the body of the reply to a request with the given method.
func readReply(conn io.Reader, method string) (*http.Response, error) {
	r := bufio.NewReader(conn)
	for range maxInterim + 1 {
		status, head, err := readHead(r)
		switch {
		case err != nil:
			return nil, err
		case status == http.StatusSwitchingProtocols:
			return nil, malformed("the server changed the protocol unasked")
		case status >= 200:
			return parseHead(io.MultiReader(bytes.NewReader(head), r), method)
		}
	}
	return nil, malformed(fmt.Sprintf("the server sent more than %d interim replies", maxInterim))
}

// parseHead reads a head that is known to be within the caps. The body is left unclosed, because closing one reads it to its end;
// the connection is closed after it.
func parseHead(r io.Reader, method string) (*http.Response, error) {
	res, err := http.ReadResponse(bufio.NewReader(r), &http.Request{Method: method})
	if err != nil {
		return nil, broken(err, "the server sent malformed headers")
	}
	return res, nil
}

// readHead reads a status line and headers up to the empty line, within the caps.
func readHead(r *bufio.Reader) (status int, head []byte, err error) {
	line, err := readLine(r, nil, maxStatusLine)
	if errors.Is(err, errTooLong) {
		return 0, nil, malformed("the server sent an overlong status line")
	}
	if err != nil {
		return 0, nil, err
	}
	if status, err = parseStatus(line); err != nil {
		return 0, nil, err
	}
	head = line
	for lines := 0; ; lines++ {
		start := len(head)
		head, err = readLine(r, head, len(line)+toolabi.MaxHTTPHeaderBytes+len("\r\n"))
		switch {
		case errors.Is(err, errTooLong):
			return 0, nil, oversized(status, fmt.Sprintf("headers over %d bytes", toolabi.MaxHTTPHeaderBytes))
		case err != nil:
			return 0, nil, err
		case len(bytes.TrimRight(head[start:], "\r\n")) == 0:
			return status, head, nil
		case lines == toolabi.MaxHTTPHeaders:
			return 0, nil, oversized(status, fmt.Sprintf("more than %d header lines", toolabi.MaxHTTPHeaders))
		}
	}
}

var errTooLong = errors.New("line too long")

// readLine appends the next line to b, its end included. b may not grow over max bytes.
func readLine(r *bufio.Reader, b []byte, max int) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(b)+len(part) > max {
			return nil, errTooLong
		}
		b = append(b, part...)
		switch {
		case err == nil:
			return b, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// parseStatus reads "HTTP/1.1 200 whatever".
func parseStatus(line []byte) (int, error) {
	line = bytes.TrimRight(line, "\r\n")
	rest, ok := bytes.CutPrefix(line, []byte("HTTP/1."))
	if !ok || len(rest) < 5 || (rest[0] != '0' && rest[0] != '1') || rest[1] != ' ' || (len(rest) > 5 && rest[5] != ' ') {
		return 0, malformed("the server did not answer with HTTP/1.1")
	}
	status := 0
	for _, c := range rest[2:5] {
		if c < '0' || c > '9' {
			return 0, malformed("the server sent no status")
		}
		status = status*10 + int(c-'0')
	}
	if status < 100 || status > 599 {
		return 0, malformed(fmt.Sprintf("the server sent the status %03d", status))
	}
	return status, nil
}

func oversizedBody(status int, max int64) error {
	return oversized(status, fmt.Sprintf("a body over %d bytes", max))
}

// oversized is a reply over a cap. A final status says that the server has acted, whatever follows.
func oversized(status int, what string) error {
	return &replyError{
		code: toolabi.TooLarge, detail: fmt.Sprintf("status_%d", status),
		text: fmt.Sprintf("the server answered with status %d and %s", status, what), answered: status >= 200,
	}
}
