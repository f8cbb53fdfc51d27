package jq_test

import (
	"testing"

	"github.com/wrun-dev/wrun/internal/jq"
)

func TestValuesAreEqualWhateverTheirSpelling(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1e0}`, true}, {`{"a":null}`, `{}`, false}, {`1`, `"1"`, false}, {`[1,2]`, `[2,1]`, false}, {`0`, `false`, false}, {`""`, `null`, false},
		{`12345678901234567890`, `12345678901234567891`, false},
	} {
		a, err := jq.Decode([]byte(c.a), 100)
		if err != nil {
			t.Fatal(err)
		}
		b, err := jq.Decode([]byte(c.b), 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := jq.Equal(a, b); got != c.want || jq.Equal(b, a) != got {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
