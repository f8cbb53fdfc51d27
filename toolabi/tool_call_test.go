package toolabi_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestFullNamesOfTools(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, name := range []string{"m.t", "pay-2.charge_it", "7.a", long + "." + long} {
		module, tool, ok := toolabi.SplitTool(name)
		if !ok || module+"."+tool != name {
			t.Errorf("%q became %q and %q, %v", name, module, tool, ok)
		}
	}
	for _, name := range []string{"", ".", "m", "m.", ".t", "m.t.u", "M.t", "m.T", "m.t-u", "-m.t", "m. t", "m.t\n", "m.*", "m/t", long + "a.t", "m." + long + "a"} {
		if module, tool, ok := toolabi.SplitTool(name); ok {
			t.Errorf("%q became %q and %q", name, module, tool)
		}
	}
}

func TestTargetsOfToolCall(t *testing.T) {
	for _, c := range []struct {
		name    string
		targets []string
		want    bool
	}{
		{"a.x", nil, true},
		{"a.x", []string{"a.x"}, true},
		{"a.x", []string{"b.y", "a.*"}, true},
		{"a.x", []string{"a.y", "b.*"}, false},
		{"a.x", []string{"a.x*", "*", "a", "*.x"}, false},
		{"ab.x", []string{"a.*", "b.*"}, false},
	} {
		if got := toolabi.ToolAmong(c.name, c.targets); got != c.want {
			t.Errorf("%s among %q: %v, want %v", c.name, c.targets, got, c.want)
		}
	}
}
