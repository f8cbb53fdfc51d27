package journal

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// RecordLabel gives the run a label, or takes one away: its note is KEY=VALUE, or KEY= which takes it away. A label takes part in
// nothing that a run does. Before schema 3 a record of this name was as free as any.
const RecordLabel = "label"

// Caps of labels.
const (
	// MaxLabels is how many labels a run may have.
	MaxLabels = 32
	// MaxLabelKey and MaxLabelValue are in bytes.
	MaxLabelKey   = 63
	MaxLabelValue = 256
)

// labelKey is made when it is first needed: most processes see no label.
var labelKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9._/-]{0,62}$`) })

// ParseLabel takes KEY=VALUE apart and says what is wrong with it. A key has 1 to 63 lower-case letters, digits and . _ / -, and begins
// with a letter. A value has at most 256 bytes of UTF-8 in one line that can be printed; an empty one takes the label away.
func ParseLabel(text string) (key, value string, err error) {
	key, value, found := strings.Cut(text, "=")
	if !found {
		return "", "", fmt.Errorf("label %.80q: want KEY=VALUE", text)
	}
	if err := ValidateLabelKey(key); err != nil {
		return "", "", err
	}
	switch {
	case len(value) > MaxLabelValue:
		return "", "", fmt.Errorf("label %s: the value has %d bytes, at most %d are allowed", key, len(value), MaxLabelValue)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", "", fmt.Errorf("label %s: the value is not one line of text that can be printed", key)
	case strings.TrimSpace(value) != value:
		return "", "", fmt.Errorf("label %s: the value has space around it", key)
	}
	return key, value, nil
}

// ValidateLabelKey reports how a key breaks what ParseLabel says of it.
func ValidateLabelKey(key string) error {
	if !labelKey().MatchString(key) {
		return fmt.Errorf("label %.80q: a key has 1 to %d lower-case letters, digits and . _ / -, and begins with a letter", key, MaxLabelKey)
	}
	return nil
}

// Label is the entry that gives a run a label, or with an empty value takes it away; its Time is still to be set.
func Label(key, value string) Entry {
	return Entry{Kind: Record, Name: RecordLabel, Note: key + "=" + value}
}

// labels says whether e gives a label or takes one away. Schema 0 is an entry that is not written yet.
func (e *Entry) labels() bool {
	return e.Kind == Record && e.Name == RecordLabel && (e.Schema == 0 || e.Schema >= 3)
}

func (s *State) judgeLabel(e Entry) error {
	key, value, err := ParseLabel(e.Note)
	if err == nil && e.Step != "" {
		err = errors.New("a label is of the whole run")
	}
	if err != nil {
		return invalid(e, "%v", err)
	}
	if _, there := s.Labels[key]; !there && value != "" && len(s.Labels) >= MaxLabels {
		return invalid(e, "the run has %d labels, more are not allowed", MaxLabels)
	}
	return nil
}

func (s *State) foldLabel(e Entry) {
	key, value, _ := strings.Cut(e.Note, "=")
	if value == "" {
		delete(s.Labels, key)
		return
	}
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	s.Labels[key] = value
}
