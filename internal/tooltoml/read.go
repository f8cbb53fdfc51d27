package tooltoml

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// maxText is the longest text of a manifest in bytes: twice what a manifest may have.
const maxText = 2 * toolabi.MaxManifest

// Mistake is one thing that is wrong with the text.
type Mistake struct {
	// Line counts from 1; 0 means unknown.
	Line int
	// Field is the path of what it is about, such as tools[0].timeout; "" when it is about the text.
	Field string
	// Message says what is wrong, and what would be right where that can be guessed.
	Message string
}

// Error returns "line 7: field: message" on one line, without anything that a terminal would obey.
func (m *Mistake) Error() string {
	var b strings.Builder
	if m.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", m.Line)
	}
	if m.Field != "" {
		b.WriteString(m.Field + ": ")
	}
	return strings.Map(func(r rune) rune {
		if !strconv.IsGraphic(r) {
			return utf8.RuneError
		}
		return r
	}, b.String()+m.Message)
}

// Read reads a manifest and validates it. The error joins up to strictyaml.MaxMistakes *Mistake, in the order of the text.
func Read(text []byte) (*toolabi.Manifest, error) {
	doc, where, err := parse(text)
	if err != nil {
		return nil, err
	}
	r := &reader{where: where}
	m := r.manifest(doc)
	if len(r.found) == 0 {
		r.validate(m)
	}
	if len(r.found) == 0 {
		return m, nil
	}
	slices.SortStableFunc(r.found, func(a, b *Mistake) int { return a.Line - b.Line })
	var errs []error
	for _, wrong := range r.found[:min(len(r.found), strictyaml.MaxMistakes)] {
		errs = append(errs, wrong)
	}
	return nil, errors.Join(errs...)
}

// parse reads the text into maps, lists and scalars, and says where each field stands. The library is meant to return errors
// only, but it reads foreign bytes: a panic in it becomes an error here.
func parse(text []byte) (doc map[string]any, where places, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, where, err = nil, nil, &Mistake{Message: fmt.Sprintf("the TOML cannot be read: %v", r)}
		}
	}()
	switch {
	case len(text) > maxText:
		return nil, nil, &Mistake{Message: fmt.Sprintf("it has %d bytes, at most %d are allowed", len(text), maxText)}
	case len(bytes.TrimSpace(text)) == 0:
		return nil, nil, &Mistake{Line: 1, Message: "it is empty"}
	case !utf8.Valid(text):
		return nil, nil, &Mistake{Line: 1 + bytes.Count(text[:invalidAt(text)], []byte("\n")), Message: "this is not UTF-8"}
	}
	if where, err = locate(text); err != nil {
		return nil, nil, err
	}
	var wrong *toml.DecodeError
	if err := toml.Unmarshal(text, &doc); errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return nil, nil, &Mistake{Line: line, Field: strings.Join(wrong.Key(), "."), Message: strings.TrimPrefix(wrong.Error(), "toml: ")}
	} else if err != nil {
		return nil, nil, &Mistake{Message: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return doc, where, nil
}

func invalidAt(text []byte) (at int) {
	for at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

var ofNamed = regexp.MustCompile(`^(tool|capability) "?([a-z0-9_]*)"?`)

// validate adds what a manifest says of itself, each with the line that comes nearest.
func (r *reader) validate(m *toolabi.Manifest) {
	err := m.Validate()
	if err == nil {
		return
	}
	for line := range strings.Lines(err.Error()) {
		message := strings.TrimPrefix(strings.TrimSpace(line), "manifest: ")
		r.found = append(r.found, &Mistake{Line: r.where.line(fieldOf(m, message)), Message: message})
	}
}

// fieldOf returns the path of what a message of toolabi is about.
func fieldOf(m *toolabi.Manifest, message string) string {
	match := ofNamed.FindStringSubmatch(message)
	switch {
	case match == nil:
		field, _, _ := strings.Cut(strings.Replace(message, ":", " ", 1), " ")
		return field
	case match[1] == "tool":
		return fmt.Sprintf("tools[%d]", slices.IndexFunc(m.Tools, func(t toolabi.Tool) bool { return t.Name == match[2] }))
	}
	return fmt.Sprintf("capabilities[%d]", slices.IndexFunc(m.Capabilities, func(c toolabi.Capability) bool { return c.Name == match[2] }))
}
