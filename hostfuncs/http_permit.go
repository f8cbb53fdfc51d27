package hostfuncs

import (
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// permit decides whether c may send a request with this method to target, the path and query, of o: a grant has to allow it, and
// where the manifest has targets one of those too.
func permit(c Call, function, method string, o origin, target string) error {
	path, _, _ := strings.Cut(target, "?")
	segments, unclear := splitPath(path)
	if unclear != nil {
		segments = nil
	}
	granted, near := permitted(c.Grants.HTTP, method, o, segments)
	if !granted {
		return notPermitted(c, function, method, o, path, segments, near, unclear)
	}
	if len(c.Targets) == 0 {
		return nil
	}
	if named, _ := permitted(c.Targets, method, o, segments); !named {
		return toolabi.NewError(toolabi.Denied, fmt.Sprintf(
			"%s: the module's manifest does not name %s %s%s among its targets; --allow-http %s cannot widen that",
			function, method, o, toolabi.CutText(path, 200), o))
	}
	return nil
}

// permitted says whether one of a list of grants allows a request, and whether one of them has at least its origin.
func permitted(list []string, method string, o origin, segments []string) (ok, near bool) {
	for _, s := range list {
		g, err := ParseHTTPGrant(s)
		if err != nil {
			continue
		}
		near = near || g.Origin == o.String()
		if g.permits(method, o, segments) {
			return true, true
		}
	}
	return false, near
}

// notPermitted is the error of a request that no grant allows. near says that one has its origin.
func notPermitted(c Call, function, method string, o origin, path string, segments []string, near bool, unclear error) error {
	what, least := fmt.Sprintf("%s %s%s", method, o, toolabi.CutText(path, 200)), HTTPGrant{Origin: o.String(), Methods: []string{method}}
	if strings.ToUpper(method) != method || strings.ContainsAny(method, oddInMethods) {
		least.Methods = nil // it cannot be granted by its name
	}
	if unclear != nil {
		what += fmt.Sprintf(", which no grant with a path covers because that can be read in two ways (%s),", unclear)
	} else if full := joinPath(segments); len(full) <= maxGrantPath && full != "/" {
		least.Path = full
	}
	flag := allowHTTP(least)
	if !near {
		what = o.String()
		flag = allowHTTP(HTTPGrant{Origin: o.String()}) + ", or no more than " + flag
	}
	return ungranted(c, function, what, flag)
}

// allowHTTP is the flag that grants g, so that it can be typed.
func allowHTTP(g HTTPGrant) string {
	if s := g.String(); strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/") != "" {
		return `--allow-http "` + s + `"`
	}
	return "--allow-http " + g.String()
}
