package hostfuncs

import "slices"

// Grants is what an operator lets the modules of a run do. The zero value grants nothing.
type Grants struct {
	// HTTP are the origins that http_fetch and http_send may reach, as ParseOrigin returns them.
	HTTP []string `cbor:"1,keyasint,omitempty" json:"http,omitempty"`
	// Dirs are the directories that programs may use, each name once.
	Dirs []DirGrant `cbor:"2,keyasint,omitempty" json:"dirs,omitempty"`
}

// Union returns everything that g or o grants. Of a directory that both grant under one name, the path is g's, and it may be
// written to when both mean the same path and either says so; whoever adds grants asks Conflict first.
func (g Grants) Union(o Grants) Grants {
	u := Grants{HTTP: append([]string(nil), g.HTTP...), Dirs: append([]DirGrant(nil), g.Dirs...)}
	for _, origin := range o.HTTP {
		if !slices.Contains(u.HTTP, origin) {
			u.HTTP = append(u.HTTP, origin)
		}
	}
	for _, d := range o.Dirs {
		i := slices.IndexFunc(u.Dirs, func(have DirGrant) bool { return have.Name == d.Name })
		switch {
		case i < 0:
			u.Dirs = append(u.Dirs, d)
		case u.Dirs[i].Path == d.Path:
			u.Dirs[i].Write = u.Dirs[i].Write || d.Write
		}
	}
	return u
}

// Equal says whether g and o grant the same, in the same order.
func (g Grants) Equal(o Grants) bool {
	return slices.Equal(g.HTTP, o.HTTP) && slices.Equal(g.Dirs, o.Dirs)
}

// IsZero says that nothing is granted.
func (g Grants) IsZero() bool { return len(g.HTTP) == 0 && len(g.Dirs) == 0 }
