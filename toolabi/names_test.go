package toolabi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestNamesOfModulesAndTools(t *testing.T) {
	module := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
	tool := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	names := []string{"", "\x00", "é", "a\n", "a b", "a-b", "a_b", "-a", "a-", "_a", "a_", "1a", "a1", "A", "aA", "a.b", "-", "_", "--", "a--b"}
	for _, n := range []int{1, 2, 63, 64, 65} {
		names = append(names, strings.Repeat("a", n), strings.Repeat("9", n), "a"+strings.Repeat("_", n-1), strings.Repeat("-", n-1)+"a")
	}
	for _, name := range names {
		if got, want := toolabi.IsModuleName(name), module.MatchString(name); got != want {
			t.Errorf("module %q: got %v, want %v", name, got, want)
		}
		m := toolabi.Manifest{Name: "m", Version: "1.0.0", Tools: []toolabi.Tool{{Name: name}}}
		if err := m.Validate(); (err == nil) != tool.MatchString(name) {
			t.Errorf("tool %q: got %v, want valid: %v", name, err, tool.MatchString(name))
		}
	}
}
