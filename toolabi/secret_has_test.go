package toolabi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestNamesOfSecrets(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, s := range []string{"a", "7", "stripe", "stripe-live", "a_b", "a--b", "0_0", long} {
		if !toolabi.IsSecretName(s) {
			t.Errorf("%q is no name", s)
		}
	}
	for _, s := range []string{"", "-", "_", "-a", "a-", "_a", "a_", "A", "stripe.live", "a b", "a\x00b", "é", "a}}b", long + "a"} {
		if toolabi.IsSecretName(s) {
			t.Errorf("%q is a name", s)
		}
	}
}

func TestReferencesToSecretsAreFound(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "Bearer x": nil, "{{secret": nil, "{{ secret:a}}": nil,
		"Bearer {{secret:stripe}}":                 {"stripe"},
		"{{secret:a}}{{secret:b}} {{secret:a}}":    {"a", "b"},
		"{" + toolabi.SecretRef("a") + "}":         {"a"},
		strings.Repeat(toolabi.SecretRef("a"), 99): {"a"},
	} {
		if names, bad := toolabi.SecretRefs(text); !slices.Equal(names, want) || bad != "" {
			t.Errorf("%.60q has %q, and %q", text, names, bad)
		}
	}
	for _, text := range []string{"{{secret:", "{{secret:a", "{{secret:}}", "{{secret:A}}", "{{secret:a }}", "{{secret:{{secret:a}}}}", "{{secret:a}}{{secret:a-}}"} {
		if _, bad := toolabi.SecretRefs(text); !strings.HasPrefix(bad, "{{secret:") || len(bad) > 80 {
			t.Errorf("%q is taken for what it is not: %q", text, bad)
		}
	}
}
