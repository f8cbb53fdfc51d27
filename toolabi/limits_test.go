package toolabi_test

import (
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestTightenOnlyLowers(t *testing.T) {
	for _, c := range []struct{ a, b, want toolabi.Limits }{
		{toolabi.Limits{}, toolabi.Limits{}, toolabi.Limits{}},
		{toolabi.Limits{TimeoutMS: 5}, toolabi.Limits{}, toolabi.Limits{TimeoutMS: 5}},
		{toolabi.Limits{}, toolabi.Limits{MemoryBytes: 5}, toolabi.Limits{MemoryBytes: 5}},
		{toolabi.Limits{OutputBytes: 5}, toolabi.Limits{OutputBytes: 6}, toolabi.Limits{OutputBytes: 5}},
		{toolabi.Limits{OutputBytes: 6}, toolabi.Limits{OutputBytes: 5}, toolabi.Limits{OutputBytes: 5}},
		{toolabi.Limits{TimeoutMS: 1, MemoryBytes: 9, OutputBytes: 3}, toolabi.Limits{TimeoutMS: 2, MemoryBytes: 8},
			toolabi.Limits{TimeoutMS: 1, MemoryBytes: 8, OutputBytes: 3}},
	} {
		if got := c.a.Tighten(c.b); got != c.want {
			t.Errorf("%+v tightened by %+v is %+v, want %+v", c.a, c.b, got, c.want)
		}
		if got := c.b.Tighten(c.a); got != c.want {
			t.Errorf("%+v tightened by %+v is %+v, want %+v", c.b, c.a, got, c.want)
		}
	}
}
