package toolpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/wrun-dev/wrun/toolabi"
)

// format is the number of the form of packages.
const format = 1

// Package is what a package holds.
type Package struct {
	// Manifest is the text of manifest.json.
	Manifest []byte
	// Readme, License and ThirdParty are texts for people; empty ones are left out.
	Readme, License, ThirdParty []byte
	// Module is the module, with its own manifest in it.
	Module []byte
}

// Names are those of the files that the package has, in their order.
func (p *Package) Names() (names []string) {
	for _, f := range p.files() {
		if len(*f.content) > 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// The most that a package, and each text in it, may have in bytes. A package is read as modules are, and has their limit.
const (
	MaxPackage = 64 << 20
	MaxText    = 1 << 20
)

// described is manifest.json.
type described struct {
	Format   int               `json:"wrun_package"`
	Digest   string            `json:"digest"`
	Manifest *toolabi.Manifest `json:"manifest"`
}

// New returns the package of a module whose manifest is m.
func New(module []byte, m *toolabi.Manifest) (*Package, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(described{format, toolabi.DigestOf(module).String(), m}); err != nil {
		return nil, fmt.Errorf("write the manifest as JSON: %w", err)
	}
	p := &Package{Manifest: b.Bytes(), Module: module}
	return p, p.Agrees(m)
}

// DisagreesError says that a package says something of its module that is not so.
type DisagreesError struct{ What string }

// Error says what.
func (e *DisagreesError) Error() string {
	return "manifest.json does not say what the module says: " + e.What
}

// Agrees holds manifest.json against the module and the manifest that is in it, m. Errors: *DisagreesError; *FormatError when it
// is no manifest.json.
func (p *Package) Agrees(m *toolabi.Manifest) error {
	said, err := p.said()
	if err != nil {
		return err
	}
	if got := toolabi.DigestOf(p.Module).String(); said.Digest != got {
		return &DisagreesError{fmt.Sprintf("the digest is %s, and not %s", got, toolabi.CleanLine(said.Digest, 80))}
	}
	want, err := encoded(m)
	if err != nil {
		return err
	}
	got, err := encoded(said.Manifest)
	if err != nil {
		return &FormatError{fmt.Sprintf("manifest.json: %v", err)}
	}
	if !bytes.Equal(got, want) {
		return &DisagreesError{"the two manifests differ; the one in the module counts"}
	}
	return nil
}

// said reads manifest.json.
func (p *Package) said() (*described, error) {
	if err := toolabi.StrictJSON(p.Manifest); err != nil {
		return nil, &FormatError{fmt.Sprintf("manifest.json: %v", err)}
	}
	var number struct {
		Format int `json:"wrun_package"`
	}
	if err := json.Unmarshal(p.Manifest, &number); err == nil && number.Format > format {
		return nil, &FormatError{fmt.Sprintf("it is a package of form %d, and this version of wrun reads form %d: use a newer wrun", number.Format, format)}
	}
	said := new(described)
	d := json.NewDecoder(bytes.NewReader(p.Manifest))
	d.DisallowUnknownFields()
	if err := d.Decode(said); err != nil {
		return nil, &FormatError{fmt.Sprintf("manifest.json: %v", err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &FormatError{"manifest.json: there is more behind it"}
	}
	if said.Format != format || said.Manifest == nil {
		return nil, &FormatError{"manifest.json: it has no wrun_package of 1, or no manifest"}
	}
	return said, nil
}

// encoded is a manifest as bytes that are equal when two manifests say the same. How the JSON of a schema is laid out says nothing.
func encoded(m *toolabi.Manifest) ([]byte, error) {
	short := *m
	short.Tools = make([]toolabi.Tool, len(m.Tools))
	for i, t := range m.Tools {
		for _, schema := range []*toolabi.RawJSON{&t.Input, &t.Output} {
			if len(*schema) == 0 {
				continue
			}
			var b bytes.Buffer
			if err := json.Compact(&b, *schema); err != nil {
				return nil, err
			}
			*schema = b.Bytes()
		}
		short.Tools[i] = t
	}
	return toolabi.Encode(&short)
}
