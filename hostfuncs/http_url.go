package hostfuncs

import (
	"errors"
	"fmt"
	"strings"
)

// maxURL is the longest URL of a request, in bytes.
const maxURL = 8 << 10

// splitURL reads the URL of a request: its origin, and what the request line says, byte for byte as the tool wrote it.
// The origin is found by the very parser that reads grants, so that the two cannot differ.
func splitURL(s string) (o origin, target string, err error) {
	if len(s) > maxURL {
		return origin{}, "", fmt.Errorf("url has %d bytes, at most %d are allowed", len(s), maxURL)
	}
	if strings.Contains(s, "{{secret:") {
		return origin{}, "", errors.New("url: a secret cannot stand in a URL, which is shown and recorded: put it into a header or the body")
	}
	head, target := cutOrigin(s)
	if o, err = parseOrigin(head); err != nil {
		return origin{}, "", fmt.Errorf("url: %w", err)
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return o, target, checkTarget(target)
}

// cutOrigin cuts a URL where its authority ends.
func cutOrigin(s string) (head, rest string) {
	i := strings.Index(s, "://")
	if i < 0 {
		return s, ""
	}
	if j := strings.IndexAny(s[i+3:], `/?#\`); j >= 0 {
		return s[:i+3+j], s[i+3+j:]
	}
	return s, ""
}

func checkTarget(t string) error {
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == '#':
			return errors.New("url: a fragment is not allowed")
		case c <= ' ', c >= 0x7f, strings.IndexByte(`"<>\`, c) >= 0:
			return fmt.Errorf("url: byte 0x%02x in path or query must be percent-encoded", c)
		case c == '%' && (i+2 >= len(t) || !isHex(t[i+1]) || !isHex(t[i+2])):
			return errors.New("url: a % must be followed by two hexadecimal digits")
		}
	}
	return nil
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
