package grantfile

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	r := &reader{found: found}
	if len(found) > 0 {
		return hostfuncs.Grants{}, r.err()
	}
	g := r.grants(top, "a grants file")
	if err := r.err(); err != nil {
		return hostfuncs.Grants{}, err
	}
	return g, nil
}

// reader reads nodes that were vetted, and collects what is wrong with them.
type reader struct{ found []*strictyaml.Mistake }

// err joins what was found, in the order of the file.
func (r *reader) err() error {
	slices.SortStableFunc(r.found, func(a, b *strictyaml.Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	var errs []error
	for _, m := range r.found {
		errs = append(errs, m)
	}
	return errors.Join(errs...)
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	if len(r.found) < strictyaml.MaxMistakes {
		r.found = append(r.found, &strictyaml.Mistake{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
	}
}

// fields reads a mapping whose keys must be among those known; nil when it is none.
func (r *reader) fields(n *yaml.Node, what string, known []string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s has to be a mapping, this is %s", what, strictyaml.Describe(n))
		return nil
	}
	f := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(known, k.Value) {
			r.fail(k, "unknown field %+.60q%s", k.Value, strictyaml.Suggest(k.Value, known))
			continue
		}
		f[k.Value] = n.Content[i+1]
	}
	return f
}

// str reads a string; "" after a mistake.
func (r *reader) str(n *yaml.Node, field string) string {
	if n.Kind == yaml.ScalarNode {
		v, wrong := strictyaml.Scalar(n)
		if s, ok := v.(string); ok && wrong == "" && s != "" {
			return s
		}
	}
	r.fail(n, "%q has to be a string, this is %s", field, strictyaml.Describe(n))
	return ""
}

// grants reads a mapping of flags to their values.
func (r *reader) grants(n *yaml.Node, what string) (g hostfuncs.Grants) {
	f := r.fields(n, what, Flags())
	for _, k := range kinds {
		v := f[k.flag]
		switch {
		case v == nil:
		case k.one:
			g = r.with(g, k.flag, v)
		case v.Kind != yaml.SequenceNode:
			r.fail(v, "%q has to be a list, this is %s", k.flag, strictyaml.Describe(v))
		case len(v.Content) > hostfuncs.MaxGrants:
			r.fail(v, "%q has %d entries, at most %d are allowed", k.flag, len(v.Content), hostfuncs.MaxGrants)
		default:
			var ofKind hostfuncs.Grants // by itself, since a union takes as long as there is of everything
			for _, one := range v.Content {
				ofKind = r.with(ofKind, k.flag, one)
			}
			g = g.Union(ofKind)
		}
	}
	if len(r.found) == 0 {
		if err := g.Validate(); err != nil {
			r.fail(n, "%v", err)
		}
	}
	return g
}

func (r *reader) with(g hostfuncs.Grants, flag string, n *yaml.Node) hostfuncs.Grants {
	if flag == "allow-artifacts" && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		n = &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: n.Value, Line: n.Line, Column: n.Column}
	}
	value := r.str(n, flag)
	if value == "" {
		return g
	}
	if path, ok := pathIn(flag, value); ok && !filepath.IsAbs(path) {
		r.fail(n, "%s: the path %.200q has to be absolute: a file of the configuration does not depend on the directory that wrun is used in", flag, path)
		return g
	}
	k, _ := kindOf(flag)
	more, err := k.read(value)
	if err == nil {
		err = g.Conflict(more)
	}
	if err != nil {
		r.fail(n, "%s: %v", flag, err)
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
