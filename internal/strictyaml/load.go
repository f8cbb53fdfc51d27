package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Kind is a kind of file, and its caps.
type Kind struct {
	// Name is what one is called: "plan".
	Name string
	// MaxBytes is the longest text, MaxDepth how deep lists and mappings may nest.
	MaxBytes, MaxDepth int
}

// Load reads exactly one YAML document and returns its top value, or up to MaxMistakes *Mistake. Nothing is expanded or
// resolved: what is dangerous in YAML is refused on the nodes as they were written, so that an alias bomb costs no more
// than its text.
func Load(text []byte, kind Kind) (*yaml.Node, []*Mistake) {
	if len(text) > kind.MaxBytes {
		return nil, one(0, "the %s has %d bytes, at most %d are allowed", kind.Name, len(text), kind.MaxBytes)
	}
	if at := invalidUTF8(text); at >= 0 {
		return nil, one(lineAt(text, at), "this is not UTF-8")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	doc, err := next(dec)
	if errors.Is(err, io.EOF) {
		return nil, one(1, "the %s is empty", kind.Name)
	}
	if err != nil {
		return nil, []*Mistake{yamlError(text, err)}
	}
	if more, err := next(dec); err == nil {
		return nil, one(more.Line, "a %s is one document; a second one begins here", kind.Name)
	} else if !errors.Is(err, io.EOF) {
		return nil, []*Mistake{yamlError(text, err)}
	}
	v := vetter{maxDepth: kind.MaxDepth}
	v.vet(doc.Content[0], 1)
	return doc.Content[0], v.found
}

func one(line int, format string, args ...any) []*Mistake {
	return []*Mistake{{Line: line, Message: fmt.Sprintf(format, args...)}}
}

// next reads a document. The library is meant to return errors only, but it reads foreign bytes: a panic in it becomes
// an error here.
func next(dec *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("the YAML cannot be read: %v", r)
		}
	}()
	doc = new(yaml.Node)
	if err := dec.Decode(doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, io.EOF
	}
	return doc, nil
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// yamlError turns a message of the library into a Mistake, with what the message is likely to be about.
func yamlError(text []byte, err error) *Mistake {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Mistake{}
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	e.Message = message
	switch lines := bytes.Split(text, []byte("\n")); {
	case strings.Contains(message, "cannot start any token") || strings.Contains(message, "tab character"):
		for i, l := range lines {
			if bytes.Contains(l[:len(l)-len(bytes.TrimLeft(l, " \t"))], []byte("\t")) {
				e.Line, e.Message = i+1, "this line is indented with a tab; YAML wants spaces"
				break
			}
		}
	case strings.Contains(message, "mapping values are not allowed"):
		e.Message += `; text with ": " in it, an expression too, has to be quoted`
	}
	return e
}

func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }
