package runtime

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The longest number that is held against a schema, in bytes, and the largest exponent that it may have. What judges it computes
// with fractions of whole numbers: 1e999999 is a tenth of a second of work, and it panics on what is larger still.
const (
	maxJudgedNumber   = 1024
	maxJudgedExponent = 1000
)

var errNumber = fmt.Errorf("a number has more than %d characters or an exponent over %d, and cannot be held against a schema",
	maxJudgedNumber, maxJudgedExponent)

// judgeable returns errNumber for a document with a number that is too large to be held against a schema.
func judgeable(value any) error {
	switch v := value.(type) {
	case json.Number:
		return judgeableNumber(string(v))
	case []any:
		for _, x := range v {
			if err := judgeable(x); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, x := range v {
			if err := judgeable(x); err != nil {
				return err
			}
		}
	}
	return nil
}

func judgeableNumber(n string) error {
	i := strings.IndexAny(n, "eE")
	if len(n) > maxJudgedNumber {
		return errNumber
	}
	if i < 0 {
		return nil
	}
	exponent, err := strconv.Atoi(n[i+1:])
	if err != nil || exponent > maxJudgedExponent || exponent < -maxJudgedExponent { // all that Atoi refuses of it is its size
		return errNumber
	}
	return nil
}
