package tooltest

import (
	"slices"
	"testing"
)

// A value that is missing was not drawn while the module started: only one that has another in its place was.
func TestANameOfTheStartHasAnotherInItsPlace(t *testing.T) {
	first := marks{"id": 1, "same": 2}
	for _, c := range []struct {
		second, third marks
		want          []string
	}{
		{marks{"id": 1, "same": 2}, marks{"other": 1, "same": 2}, []string{`"id"`}},
		{marks{"id": 1, "same": 2}, marks{"same": 2}, nil},
		{marks{"id": 1}, marks{"other": 1, "same": 2}, nil},
		{marks{"drawn": 1, "same": 2}, marks{"id": 1, "same": 2}, nil},
		{marks{"id": 1, "same": 2}, marks{"id": 1, "same": 2}, nil},
	} {
		if got := first.fromStart(c.second, c.third); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: got %q, want %q", c.second, c.third, got, c.want)
		}
	}
}
