package failpoint_test

import (
	"testing"

	"github.com/wrun-dev/wrun/internal/failpoint"
)

func TestNothingHappensUnlessItIsAskedFor(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range failpoint.Names {
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if err := failpoint.Hit(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
