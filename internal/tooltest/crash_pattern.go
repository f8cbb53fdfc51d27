package tooltest

import (
	"maps"
	"slices"

	"github.com/wrun-dev/wrun/internal/jq"
)

// A tool may read the clock and draw random numbers, and what it then does differs from call to call. A pattern is what two calls
// that nobody disturbed have in common: a value in which anything stands where they differ.
type pattern struct{ value any }

// anything stands for whatever a call makes of the clock and of randomness.
type anything struct{}

// maxDigits is how long a number of JSON may be that is compared as one, in digits.
const maxDigits = 400

// valueOf reads JSON, and takes what is none as text.
func valueOf(text string) any {
	if v, err := jq.Decode([]byte(text), maxDigits); err == nil {
		return v
	}
	return text
}

// common is the pattern of two texts.
func common(a, b string) pattern { return pattern{merge(valueOf(a), valueOf(b))} }

func merge(a, b any) any {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(x)), slices.Sorted(maps.Keys(y))) {
			return anything{}
		}
		m := map[string]any{}
		for k := range x {
			m[k] = merge(x[k], y[k])
		}
		return m
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return anything{}
		}
		list := make([]any, len(x))
		for i := range x {
			list[i] = merge(x[i], y[i])
		}
		return list
	}
	if jq.Equal(a, b) {
		return a
	}
	return anything{}
}

// fits says whether a text is one of those that the pattern stands for.
func (p pattern) fits(text string) bool { return fits(p.value, valueOf(text)) }

func fits(p, v any) bool {
	switch x := p.(type) {
	case anything:
		return true
	case map[string]any:
		y, ok := v.(map[string]any)
		return ok && maps.EqualFunc(x, y, fits)
	case []any:
		y, ok := v.([]any)
		return ok && slices.EqualFunc(x, y, fits)
	}
	return jq.Equal(p, v)
}

// exact says whether nothing in it varies.
func (p pattern) exact() bool { return exact(p.value) }

func exact(v any) bool {
	switch x := v.(type) {
	case anything:
		return false
	case map[string]any:
		for _, e := range x {
			if !exact(e) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(x, func(e any) bool { return !exact(e) })
	}
	return true
}
