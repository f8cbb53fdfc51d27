package hostfuncs

import (
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// Many servers, and frameworks behind them, take the method or the path of a request from headers like these, in place of what the
// request line has. A grant that leaves less than an origin would be no more than a suggestion then.
var (
	methodHeaders = []string{"X-HTTP-Method", "X-HTTP-Method-Override", "X-Method-Override"}
	pathHeaders   = []string{"X-Original-URI", "X-Original-URL", "X-Override-URL", "X-Rewrite-URL"}
)

// override returns the first of some headers that a request has, or "".
func override(headers []toolabi.Header, names []string) string {
	i := slices.IndexFunc(names, func(name string) bool { return hasHeader(headers, name) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// permitOverrides decides about a request that is permitted as the request line has it: one that has another method by a header has
// to be allowed whatever its method is, and one that has another path whatever that is.
func permitOverrides(c Call, r *request) error {
	method, path := override(r.headers, methodHeaders), override(r.headers, pathHeaders)
	if method == "" && path == "" {
		return nil
	}
	name, least := path, HTTPGrant{Origin: r.origin.String()}
	is, segments := r.method, []string(nil) // of no path, or of one that nobody knows, only a grant without a path allows
	if method != "" {
		name, is = method, ""
	}
	if path == "" {
		segments = r.segments()
	} else if method == "" {
		least.Methods = []string{r.method}
	}
	what := fmt.Sprintf("the header %s, by which a server can take %s %s for another request,", name, r.method, r.origin)
	if ok, _ := permitted(c.Grants.HTTP, is, r.origin, segments); !ok {
		return ungranted(c, r.function, what, allowHTTP(least))
	}
	if ok, _ := permitted(c.Targets, is, r.origin, segments); !ok && len(c.Targets) > 0 {
		return toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s: the targets of the module's manifest do not cover %s", r.function, what))
	}
	return nil
}
