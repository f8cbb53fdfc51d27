package hostfuncs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// HTTPGrant is what http_fetch and http_send may reach: an origin, and of that what the methods and the path leave.
type HTTPGrant struct {
	// Methods are the methods that are allowed, sorted; none means all.
	Methods []string
	// Origin is in the form of ParseOrigin.
	Origin string
	// Path is what the path of a URL begins with, percent-encoded where it has to be; "" means whatever path. It ends at the border
	// of a segment: /v1/charges allows /v1/charges and /v1/charges/7, and not /v1/chargesx. With a / at its end it allows what is
	// below, and not itself without the /.
	Path string
}

const (
	maxGrantMethods = 16
	maxGrantPath    = 1 << 10
	// oddInMethods can be in a word of HTTP, and not in the name of a method that is granted: a * would look like all of them.
	oddInMethods = "!#$%&'*`|"
)

// ParseHTTPGrant reads a grant as people write it, [METHOD[,METHOD…] ]ORIGIN[/PATH], such as
//
//	https://api.example.com
//	POST https://api.example.com/v1/charges
//	GET,HEAD https://files.example.com/pub/
//
// The origin is read as ParseOrigin reads it. A path that could be read in two ways is refused, and so is a query.
func ParseHTTPGrant(s string) (HTTPGrant, error) {
	var g HTTPGrant
	rest := s
	if methods, after, ok := strings.Cut(s, " "); ok {
		var err error
		if g.Methods, err = parseMethods(methods); err != nil {
			return HTTPGrant{}, err
		}
		rest = after
	}
	head, path := cutOrigin(rest)
	o, err := parseOrigin(head)
	if err != nil {
		return HTTPGrant{}, err
	}
	g.Origin = o.String()
	if g.Path, err = parseGrantPath(path); err != nil {
		return HTTPGrant{}, fmt.Errorf("path %q: %w", toolabi.CleanLine(path, 80), err)
	}
	return g, nil
}

// String returns the only spelling of a grant that ParseHTTPGrant returned.
func (g HTTPGrant) String() string {
	s := g.Origin + g.Path
	if len(g.Methods) > 0 {
		s = strings.Join(g.Methods, ",") + " " + s
	}
	return s
}

func parseMethods(s string) ([]string, error) {
	methods := strings.Split(s, ",")
	if len(methods) > maxGrantMethods {
		return nil, fmt.Errorf("%d methods, at most %d are allowed", len(methods), maxGrantMethods)
	}
	for _, m := range methods {
		if !mayFetch(m) && !maySend(m) || strings.ContainsAny(m, oddInMethods) {
			return nil, fmt.Errorf("method %q: want a word such as GET or POST, and one that can be sent; several with commas between them, and one space behind them", toolabi.CleanLine(m, 40))
		}
		if strings.ToUpper(m) != m {
			return nil, fmt.Errorf("method %q: methods are in capitals: %s", m, strings.ToUpper(m)) // to a server they are two
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods), nil
}

// parseGrantPath returns the only spelling of a path.
func parseGrantPath(s string) (string, error) {
	switch {
	case s == "" || s == "/": // what is below the root is everything
		return "", nil
	case s[0] != '/' || strings.ContainsAny(s, "?#"):
		return "", errors.New("want a path, without a query or fragment")
	}
	if err := checkTarget(s); err != nil {
		return "", err
	}
	segments, err := splitPath(s)
	if err != nil {
		return "", err
	}
	path := joinPath(segments)
	if len(path) > maxGrantPath {
		return "", fmt.Errorf("%d bytes, at most %d are allowed", len(path), maxGrantPath)
	}
	return path, nil
}

// permits says whether the grant allows a request. segments are the path's; nil for one that could be read in two ways, which
// only a grant without a path allows.
func (g HTTPGrant) permits(method string, o origin, segments []string) bool {
	if g.Origin != o.String() || len(g.Methods) > 0 && !slices.Contains(g.Methods, method) {
		return false
	}
	if g.Path == "" {
		return true
	}
	prefix, err := splitPath(g.Path)
	return err == nil && segments != nil && hasPrefix(segments, prefix)
}
