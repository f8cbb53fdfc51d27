package grantfile

import (
	"errors"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/strictyaml"
)

// MaxBytes is the longest text of a file, in bytes.
const MaxBytes = 1 << 20

// Parse reads the text of grants.yaml. What it grants is valid. The error joins up to twenty *strictyaml.Mistake, one for each
// thing that is wrong.
func Parse(text []byte) (hostfuncs.Grants, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "grants file", MaxBytes: MaxBytes, MaxDepth: 8})
	r := &reader{strictyaml.Found(found)}
	if r.Count() > 0 {
		return hostfuncs.Grants{}, r.err()
	}
	g := r.grants(top, "a grants file")
	if err := r.err(); err != nil {
		return hostfuncs.Grants{}, err
	}
	return g, nil
}

// reader reads grants.
type reader struct{ strictyaml.Reader }

// err joins what was found.
func (r *reader) err() error {
	var errs []error
	for _, m := range r.Mistakes() {
		errs = append(errs, m)
	}
	return errors.Join(errs...)
}

// grants reads a mapping of flags to their values.
func (r *reader) grants(n *yaml.Node, what string) (g hostfuncs.Grants) {
	f := r.Fields(n, what, Flags())
	for _, k := range kinds {
		v := f[k.flag]
		switch {
		case v == nil:
		case k.one:
			g = r.with(g, k.flag, v)
		case v.Kind != yaml.SequenceNode:
			r.Fail(v, "%q has to be a list, this is %s", k.flag, strictyaml.Describe(v))
		case len(v.Content) > hostfuncs.MaxGrants:
			r.Fail(v, "%q has %d entries, at most %d are allowed", k.flag, len(v.Content), hostfuncs.MaxGrants)
		default:
			var ofKind hostfuncs.Grants // by itself, since a union takes as long as there is of everything
			for _, one := range v.Content {
				ofKind = r.with(ofKind, k.flag, one)
			}
			g = g.Union(ofKind)
		}
	}
	if r.Count() == 0 {
		if err := g.Validate(); err != nil {
			r.Fail(n, "%v", err)
		}
	}
	return g
}

func (r *reader) with(g hostfuncs.Grants, flag string, n *yaml.Node) hostfuncs.Grants {
	if flag == "allow-artifacts" && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		n = &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: n.Value, Line: n.Line, Column: n.Column}
	}
	value := r.Str(n, flag)
	if value == "" {
		return g
	}
	if path, ok := pathIn(flag, value); ok && !filepath.IsAbs(path) {
		r.Fail(n, "%s: the path %.200q has to be absolute: a file of the configuration does not depend on the directory that wrun is used in", flag, path)
		return g
	}
	k, _ := kindOf(flag)
	more, err := k.read(value)
	if err == nil {
		err = g.Conflict(more)
	}
	if err != nil {
		r.Fail(n, "%s: %v", flag, err)
		return g
	}
	return g.Union(more)
}

// pathIn returns the path in the value of a flag that has one.
func pathIn(flag, value string) (path string, ok bool) {
	switch flag {
	case "dir":
		_, path, ok = strings.Cut(value, "=")
	case "secret":
		_, source, _ := strings.Cut(value, "=")
		path, ok = strings.CutPrefix(source, "file:")
	case "workspace":
		path, ok = value, true
	}
	return path, ok
}
