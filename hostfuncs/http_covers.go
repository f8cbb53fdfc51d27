package hostfuncs

import (
	"slices"
)

// Covers says whether everything that o allows is allowed by g as well. Both are as ParseHTTPGrant returns them.
func (g HTTPGrant) Covers(o HTTPGrant) bool {
	if g.Origin != o.Origin {
		return false
	}
	if len(g.Methods) > 0 && (len(o.Methods) == 0 || slices.ContainsFunc(o.Methods, func(m string) bool { return !slices.Contains(g.Methods, m) })) {
		return false
	}
	if g.Path == "" {
		return true
	}
	prefix, err := splitPath(g.Path)
	segments, errO := splitPath(o.Path)
	return o.Path != "" && err == nil && errO == nil && hasPrefix(segments, prefix)
}

// Kind says what an address is that a grant names in place of a host and that is not public, such as "loopback"; "" for names and
// public addresses. What a name leads to is judged when a connection is made.
func (g HTTPGrant) Kind() string {
	o, err := parseOrigin(g.Origin)
	if err != nil || !o.addr.IsValid() {
		return ""
	}
	return addressKind(o.addr)
}
