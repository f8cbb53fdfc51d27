package grantfile

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// Record is what is remembered of a tool that an operator added.
type Record struct {
	// Name and Version are the manifest's.
	Name, Version string
	// Digest is the SHA-256 of the module: these bytes have the grants, and no others of the name.
	Digest toolabi.Digest
	// File is where the module was taken from, for people.
	File string
	// Added is when, in UTC and whole seconds.
	Added time.Time
	// Grants is what the module may do wherever it is used.
	Grants hostfuncs.Grants
}

// ParseRecord reads the text of a record. Errors are those of Parse.
func ParseRecord(text []byte) (Record, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "record of a tool", MaxBytes: MaxBytes, MaxDepth: 8})
	r := &reader{strictyaml.Found(found)}
	if r.Count() > 0 {
		return Record{}, r.err()
	}
	rec := r.record(top)
	if err := r.err(); err != nil {
		return Record{}, err
	}
	return rec, nil
}

func (r *reader) record(n *yaml.Node) (rec Record) {
	f := r.Fields(n, "the record of a tool", []string{"name", "version", "digest", "file", "added", "grants"})
	if f == nil {
		return rec
	}
	for _, field := range []struct {
		name string
		to   *string
	}{{"name", &rec.Name}, {"version", &rec.Version}, {"file", &rec.File}} {
		if v := f[field.name]; v == nil {
			r.Fail(n, "%q is missing", field.name)
		} else {
			*field.to = r.Str(v, field.name)
		}
	}
	if v := f["name"]; v != nil && rec.Name != "" && !toolabi.IsModuleName(rec.Name) {
		r.Fail(v, "%.80q is no name of a module", rec.Name)
	}
	if v := f["digest"]; v == nil {
		r.Fail(n, `"digest" is missing`)
	} else if s := r.Str(v, "digest"); s != "" {
		var ok bool
		if rec.Digest, ok = toolabi.ParseDigest(s); !ok {
			r.Fail(v, `"digest" has to be 64 lower-case hexadecimal digits, this is %.80q`, s)
		}
	}
	if v := f["added"]; v == nil {
		r.Fail(n, `"added" is missing`)
	} else if s := r.Str(v, "added"); s != "" {
		var err error
		if rec.Added, err = time.Parse(time.RFC3339, s); err != nil {
			r.Fail(v, `"added" has to be a time such as 2026-01-31T12:00:00Z, this is %.80q`, s)
		}
	}
	if v := f["grants"]; v == nil {
		r.Fail(n, `"grants" is missing; {} grants nothing`)
	} else {
		rec.Grants = r.grants(v, `"grants"`)
	}
	return rec
}

// FormatRecord writes a record as ParseRecord reads it.
func FormatRecord(rec Record) ([]byte, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, field := range []struct{ name, text string }{
		{"name", rec.Name}, {"version", rec.Version}, {"digest", rec.Digest.String()}, {"file", rec.File}, {"added", rec.Added.UTC().Format(time.RFC3339)},
	} {
		n.Content = append(n.Content, stringNode(field.name), stringNode(field.text))
	}
	n.Content = append(n.Content, stringNode("grants"), grantsNode(rec.Grants))
	return encode(n)
}
