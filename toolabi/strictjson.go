package toolabi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// StrictJSON refuses JSON that two readers could read differently: with a key twice in one object, with text that is not
// UTF-8, or with half of a surrogate pair. Values keep the bytes that they came as; nothing is rewritten.
func StrictJSON(doc []byte) error {
	if len(bytes.TrimSpace(doc)) == 0 {
		return errors.New("it is empty")
	}
	if !utf8.Valid(doc) {
		return errors.New("it is not UTF-8")
	}
	if loneSurrogate(doc) {
		return errors.New("it has half of a surrogate pair")
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := uniqueKeys(dec); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is more behind the value")
	}
	return nil
}

// maxJSONDepth is how deep arrays and objects may nest.
const maxJSONDepth = 1000

// uniqueKeys reads one value.
func uniqueKeys(dec *json.Decoder) error {
	var open []map[string]bool // of each array nil, of each object the keys so far
	key := false               // whether a key comes next
	for {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		if len(open) > maxJSONDepth {
			return fmt.Errorf("it is nested deeper than %d", maxJSONDepth)
		}
		switch d, _ := t.(json.Delim); {
		case d == '{':
			open = append(open, map[string]bool{})
		case d == '[':
			open = append(open, nil)
		case d == '}' || d == ']':
			open = open[:len(open)-1]
		case key:
			name, _ := t.(string)
			keys := open[len(open)-1]
			if keys[name] {
				return fmt.Errorf("the key %.80q is there twice", name)
			}
			keys[name], key = true, false
			continue
		}
		if len(open) == 0 {
			return nil
		}
		key = open[len(open)-1] != nil
	}
}

// loneSurrogate says whether a \u escape stands for half of a pair without the other half.
func loneSurrogate(doc []byte) bool {
	half := func(b []byte) (high, low bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || b[2] != 'd' && b[2] != 'D' {
			return false, false
		}
		switch c := b[3] | 0x20; {
		case b[3] == '8' || b[3] == '9' || c == 'a' || c == 'b':
			return true, false
		default:
			return false, c >= 'c' && c <= 'f'
		}
	}
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' {
			continue
		}
		high, low := half(doc[i:])
		switch {
		case low:
			return true
		case high:
			if _, pair := half(doc[min(i+6, len(doc)):]); !pair {
				return true
			}
			i += 11
		default:
			i++ // the character that is escaped
		}
	}
	return false
}
