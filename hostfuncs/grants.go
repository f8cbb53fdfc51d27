package hostfuncs

import "slices"

// Grants is what an operator lets the modules of a run do. The zero value grants nothing.
type Grants struct {
	// HTTP are the origins that http_fetch and http_send may reach, as ParseOrigin returns them.
	HTTP []string `cbor:"1,keyasint,omitempty" json:"http,omitempty"`
}

// Union returns everything that g or o grants.
func (g Grants) Union(o Grants) Grants {
	u := Grants{HTTP: append([]string(nil), g.HTTP...)}
	for _, origin := range o.HTTP {
		if !slices.Contains(u.HTTP, origin) {
			u.HTTP = append(u.HTTP, origin)
		}
	}
	return u
}
