package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxSchemaSays is how much is said about a document that does not fit, in bytes, and maxMistakes how many parts of it are gone
// through for that: putting one into words takes longer than finding it.
const (
	maxSchemaSays = 1024
	maxMistakes   = 1000
)

// flatten turns the library's report into one line without the schema's address. The same document always gets the same line,
// whichever member of an object was looked at first: it is told to models and to tools, and held against the log on a replay.
func flatten(err error) string {
	var report *jsonschema.ValidationError
	if !errors.As(err, &report) {
		return toolabi.CutText(err.Error(), maxSchemaSays)
	}
	if s := said(report); s != "" {
		return s
	}
	return "it does not fit"
}

// said is what a part of a report says, and then what its causes say, in the order of their words.
func said(e *jsonschema.ValidationError) string {
	if n := len(e.Causes); n > maxMistakes {
		return fmt.Sprintf("%d mistakes, which are too many to name", n)
	}
	var parts []string
	for _, c := range e.Causes {
		if s := said(c); s != "" {
			parts = append(parts, s)
		}
	}
	slices.Sort(parts)
	if s := saidItself(e); s != "" {
		parts = slices.Insert(parts, 0, s)
	}
	return toolabi.CutText(strings.Join(parts, "; "), maxSchemaSays)
}

var errFormat = errors.New("it has another form")

func saidItself(e *jsonschema.ValidationError) string {
	alone := jsonschema.ValidationError{SchemaURL: e.SchemaURL, InstanceLocation: e.InstanceLocation, ErrorKind: e.ErrorKind}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference: // only its causes say something
		return ""
	case *kind.Format:
		k.Err = errFormat // in the words of this release of Go
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
	case *kind.PropertyNames:
		alone.InstanceLocation = nil // the library says that of another member
	}
	return strings.TrimPrefix(alone.Error(), "at '': ") // the document itself
}
