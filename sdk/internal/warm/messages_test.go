package warm

import (
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// A function that waits leaves the guest, so what it takes to ask is nothing beside that.
func TestEveryFunctionThatDoesNotWaitHasItsMessages(t *testing.T) {
	var want, got []string
	for _, f := range toolabi.Functions {
		if f.Class != toolabi.Wait {
			want = append(want, f.Name)
		}
	}
	for _, m := range messages {
		got = append(got, m.function)
	}
	if !slices.Equal(got, want) {
		t.Errorf("messages are of %v, want %v", got, want)
	}
}
