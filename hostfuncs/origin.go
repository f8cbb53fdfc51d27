package hostfuncs

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// origin is a scheme, a host and a port in their only spelling.
type origin struct {
	scheme string
	host   string     // lower case; an IPv6 address without brackets
	addr   netip.Addr // valid when the host is an IP address
	port   uint16
}

// ParseOrigin returns the canonical form scheme://host[:port] of an origin: http or https, all in lower case, the
// scheme's own port left out, IPv6 in brackets and in the shortest form.
//
// Whatever has a second spelling, or could be read in two ways, is refused: names beyond ASCII (write their xn-- form),
// a trailing dot, user information, a path (also a lone /), a query, a fragment, a percent sign or zone, patterns,
// numbers that some libraries take for IPv4 addresses (127.1, 0x7f000001, 017700000001), IPv4 inside IPv6
// ([::ffff:127.0.0.1]) and the ports 0, 65536 and those with leading zeros.
func ParseOrigin(s string) (string, error) {
	o, err := parseOrigin(s)
	if err != nil {
		return "", err
	}
	return o.String(), nil
}

func parseOrigin(s string) (origin, error) { return parseServer(s, "http", "https") }

// parseServer reads a scheme, which has to be plain or secure, a host and a port.
func parseServer(s, plain, secure string) (origin, error) {
	o, err := readServer(s, plain, secure)
	switch {
	case err == nil:
		return o, nil
	case strings.Contains(s, "@"):
		return origin{}, errors.New("origin: user information is not allowed") // not quoted: it may be a password
	}
	return origin{}, fmt.Errorf("origin %q: %w", toolabi.CleanLine(s, 80), err)
}

func readServer(s, plain, secure string) (origin, error) {
	if len(s) > 300 {
		return origin{}, errors.New("too long")
	}
	scheme, authority, ok := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if !ok || (scheme != plain && scheme != secure) {
		return origin{}, fmt.Errorf("want %s://HOST or %s://HOST", plain, secure)
	}
	if err := checkAuthority(authority); err != nil {
		return origin{}, err
	}
	host, port, err := splitPort(authority, defaultPort(scheme))
	if err != nil {
		return origin{}, err
	}
	o := origin{scheme: scheme, port: port}
	if strings.HasPrefix(host, "[") {
		return o.withIPv6(host)
	}
	return o.withName(strings.ToLower(host))
}

func checkAuthority(s string) error {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x80:
			return errors.New("names beyond ASCII are written in their xn-- form")
		case c <= ' ', c == 0x7f:
			return errors.New("blanks and control characters are not allowed")
		case strings.IndexByte(`/?#\`, c) >= 0:
			return errors.New("an origin ends after host and port: no path, query or fragment, and no / at the end")
		case c == '*':
			return errors.New("patterns are not allowed: name each origin")
		case c == '@', c == '%':
			return fmt.Errorf("%q is not allowed", c)
		}
	}
	return nil
}

// splitPort cuts the port off, which is def when there is none.
func splitPort(s string, def uint16) (host string, port uint16, err error) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") {
		return s, def, nil
	}
	n, err := strconv.ParseUint(s[i+1:], 10, 16)
	if err != nil || n == 0 || s[i+1] == '0' {
		return "", 0, errors.New("want a port from 1 to 65535, or none")
	}
	return s[:i], uint16(n), nil
}

func (o origin) withIPv6(host string) (origin, error) {
	inner, ok := strings.CutSuffix(host[1:], "]")
	if !ok {
		return origin{}, errors.New("the ] is missing")
	}
	a, err := netip.ParseAddr(inner)
	switch {
	case err != nil || !a.Is6():
		return origin{}, errors.New("want an IPv6 address in brackets")
	case a.Zone() != "":
		return origin{}, errors.New("zones are not allowed")
	case a.Is4In6():
		return origin{}, fmt.Errorf("write %s for this address", a.Unmap())
	}
	o.addr, o.host = a, a.String()
	return o, nil
}

func (o origin) withName(host string) (origin, error) {
	if a, err := netip.ParseAddr(host); err == nil && a.Is4() {
		o.addr, o.host = a, a.String()
		return o, nil
	}
	if host == "" || len(host) > 253 {
		return origin{}, errors.New("want a host of 1 to 253 bytes")
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if !isLabel(l) {
			return origin{}, fmt.Errorf("%q is not a label of a host name", l)
		}
	}
	if looksNumeric(labels[len(labels)-1]) {
		return origin{}, errors.New("a host that ends in a number must be four decimal numbers from 0 to 255")
	}
	o.host = host
	return o, nil
}

func isLabel(l string) bool {
	if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
		return false
	}
	return strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// looksNumeric says whether an address parser could take a last label for a number.
func looksNumeric(l string) bool {
	if hex, ok := strings.CutPrefix(l, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(l, "0123456789") == ""
}

func defaultPort(scheme string) uint16 {
	switch scheme {
	case "https":
		return 443
	case "smtps":
		return 465
	case "smtp":
		return 587
	}
	return 80
}

// String returns the canonical form.
func (o origin) String() string { return o.scheme + "://" + o.authority() }

// authority returns host[:port] as a Host header has it.
func (o origin) authority() string {
	host := o.host
	if o.addr.Is6() {
		host = "[" + host + "]"
	}
	if o.port == defaultPort(o.scheme) {
		return host
	}
	return host + ":" + strconv.Itoa(int(o.port))
}
