package jq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestValuesAreYieldedOneByOneAndBounded(t *testing.T) {
	for _, c := range []struct {
		expr    string
		size    int
		want    string
		stopped string // what the error says
	}{
		{expr: ".a[]", size: 100, want: "1 2 x"},
		{expr: "empty", size: 100},
		{expr: "1, error(\"no\"), 2", size: 100, want: "1", stopped: "no"},
		{expr: ".a[2] * 50, .a[2] * 50", size: 90, want: strings.Repeat("x", 50), stopped: "more than 90 bytes"},
		{expr: "nan", size: 100, stopped: "JSON does not have"},
		{expr: "[repeat(1)]", size: 100, stopped: "more than 1000 instructions"},
	} {
		e, _, err := Compile(c.expr, Place{Name: "a test"})
		if err != nil {
			t.Fatalf("%s: %v", c.expr, err)
		}
		var got []string
		var failed error
		for v, err := range e.Values(context.Background(), map[string]any{"a": []any{1, 2, "x"}}, NewWork(1000), c.size) {
			if failed != nil {
				t.Errorf("%s: something is yielded behind an error", c.expr)
			}
			if failed = err; err == nil {
				got = append(got, fmt.Sprint(v))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s yields %q, want %q", c.expr, got, c.want)
		}
		if (failed == nil) != (c.stopped == "") || failed != nil && !strings.Contains(failed.Error(), c.stopped) {
			t.Errorf("%s ends with %v, want %q", c.expr, failed, c.stopped)
		}
	}
}

func TestValuesEndWithTheContext(t *testing.T) {
	e, _, err := Compile("repeat(1)", Place{Name: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range e.Values(ctx, nil, NewWork(1_000_000), 1<<20) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
			return
		}
		if n++; n == 3 {
			cancel()
		}
	}
	t.Error("it ends without an error")
}
