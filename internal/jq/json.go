package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// maxNesting is how deep a value may nest: as deep as encoding/json reads.
const maxNesting = 10_000

// Decode reads one JSON value; numbers keep their digits, of which the longest may have maxNumber. What an expression does
// with a number takes one instruction, and a time that grows with the square of its length.
func Decode(text []byte, maxNumber int) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the value")
	}
	if halfPair(text) {
		return nil, errors.New("it has half of a surrogate pair in a string")
	}
	if longestNumber(text) > maxNumber {
		return nil, fmt.Errorf("it has a number of more than %d bytes", maxNumber)
	}
	return v, nil
}

// longestNumber is how long the longest number of a text of JSON is, in bytes.
func longestNumber(text []byte) int {
	longest, long := 0, 0
	for i, quoted := 0, false; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && bytes.IndexByte([]byte("0123456789+-.eE"), c) >= 0:
			long++
			longest = max(longest, long)
			continue
		}
		long = 0
	}
	return longest
}

// Encode returns the one JSON text of a value, of at most maxSize bytes: keys sorted, nothing escaped that need not be,
// no spaces.
func Encode(v any, maxSize int) ([]byte, error) {
	if err := Check(v, maxSize); err != nil {
		return nil, err
	}
	text, err := Marshal(v)
	if err == nil && len(text) > maxSize {
		err = tooLarge(maxSize)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Marshal is Encode for a value that Check has seen, without a bound of its own.
func Marshal(v any) ([]byte, error) { return gojq.Marshal(v) }

// halfPair finds a \u escape that is no character. The decoder would put another character in its place.
func halfPair(text []byte) bool {
	high := false // a first half was just before
	for i := 0; i < len(text); i++ {
		var unit rune
		if text[i] == '\\' {
			if i++; text[i] == 'u' {
				n, _ := strconv.ParseUint(string(text[i+1:i+5]), 16, 16)
				unit, i = rune(n), i+4
			}
		}
		low := unit >= 0xDC00 && unit < 0xE000
		if high != low {
			return true
		}
		high = unit >= 0xD800 && unit < 0xDC00
	}
	return high
}

func tooLarge(maxSize int) error {
	return fmt.Errorf("as JSON it has more than %d bytes", maxSize)
}

// Check refuses what JSON cannot say, which the encoder would otherwise change in silence, and what has more than about
// maxSize bytes as JSON. A value can share parts of itself, so its size is counted as it would be written.
func Check(v any, maxSize int) error {
	c := checker{max: maxSize, left: maxSize}
	return c.value(v, 0)
}

type checker struct {
	max, left int
}

func (c *checker) spend(n int) error {
	if c.left -= n; c.left < 0 {
		return tooLarge(c.max)
	}
	return nil
}

func (c *checker) value(v any, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("it is nested deeper than %d levels", maxNesting)
	}
	switch v := v.(type) {
	case nil, bool, int:
		return c.spend(1)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("it gives %v, which JSON does not have", v)
		}
		return c.spend(1)
	case *big.Int:
		return c.spend(1 + v.BitLen()*3/10)
	case json.Number:
		return c.spend(len(v))
	case string:
		return c.text(v)
	case []any:
		for _, e := range v {
			if err := c.value(e, depth+1); err != nil {
				return err
			}
		}
		return c.spend(2 + max(0, len(v)-1))
	case map[string]any:
		for k, e := range v {
			if err := c.text(k); err != nil {
				return err
			}
			if err := c.value(e, depth+1); err != nil {
				return err
			}
		}
		return c.spend(2 + 2*len(v))
	}
	return fmt.Errorf("a %T is no value of JSON", v)
}

func (c *checker) text(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("it gives text that is not UTF-8")
	}
	return c.spend(len(s) + 2)
}
