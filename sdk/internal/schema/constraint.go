package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// constrain adds to n what the tags of its field say. A tag that does not fit the field's type is an error.
func constrain(n *node, tag reflect.StructTag) error {
	n.Description = tag.Get("doc")
	kind := word(n)
	for _, c := range []struct {
		name  string
		kinds string
		set   func(string) error
	}{
		{"minimum", "integer number", func(s string) error { return setNumber(&n.Minimum, s, kind) }},
		{"maximum", "integer number", func(s string) error { return setNumber(&n.Maximum, s, kind) }},
		{"minLength", "string", func(s string) error { return setLength(&n.MinLength, s) }},
		{"maxLength", "string", func(s string) error { return setLength(&n.MaxLength, s) }},
		{"pattern", "string", func(s string) error { return setPattern(&n.Pattern, s) }},
		{"enum", "string integer number", func(s string) error { return setEnum(n, s, kind) }},
	} {
		value, ok := tag.Lookup(c.name)
		if !ok {
			continue
		}
		if kind == "" || !strings.Contains(c.kinds, kind) {
			return fmt.Errorf("tag %s is for a JSON %s", c.name, strings.ReplaceAll(c.kinds, " ", " or "))
		}
		if err := c.set(value); err != nil {
			return fmt.Errorf("tag %s: %w", c.name, err)
		}
	}
	return nil
}

// word returns the type of n, "" where it accepts any.
func word(n *node) string {
	switch t := n.Type.(type) {
	case string:
		return t
	case []string:
		return t[0]
	}
	return ""
}

func setNumber(to *number, s, kind string) error {
	if err := checkNumber(s, kind); err != nil {
		return err
	}
	*to = number(s)
	return nil
}

// checkNumber holds s against what JSON takes for a number, and for an integer against what has no fraction.
func checkNumber(s, kind string) error {
	if kind == "integer" {
		if _, ok := new(big.Int).SetString(s, 10); !ok {
			return fmt.Errorf("%q is not an integer", s)
		}
	}
	var n json.Number
	if err := json.Unmarshal([]byte(s), &n); err != nil || n.String() != s {
		return fmt.Errorf("%q is not a number", s)
	}
	return nil
}

func setLength(to **uint64, s string) error {
	n, err := strconv.ParseUint(s, 10, 53)
	if err != nil {
		return fmt.Errorf("%q is not a length", s)
	}
	*to = &n
	return nil
}

func setPattern(to *string, s string) error {
	if _, err := regexp.Compile(s); err != nil {
		return err
	}
	*to = s
	return nil
}

func setEnum(n *node, s, kind string) error {
	for value := range strings.SplitSeq(s, ",") {
		if kind == "string" {
			n.Enum = append(n.Enum, value)
			continue
		}
		if err := checkNumber(value, kind); err != nil {
			return err
		}
		n.Enum = append(n.Enum, number(value))
	}
	if _, nullable := n.Type.([]string); nullable {
		n.Enum = append(n.Enum, nil)
	}
	return nil
}
