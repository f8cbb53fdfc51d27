package hostfuncs_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestTargetsThatCouldNotBeGrantedAreRefused(t *testing.T) {
	web := []string{
		"*", "", "*.com", "https://*.com", "localhost", "127.1", "https://127.1", "0x7f000001", "http://0x7f000001", "http://2130706433", "[::ffff:127.0.0.1]", "http://[::ffff:127.0.0.1]",
		"a@evil.com", "https://a@evil.com", "EXAMPLE.com.", "https://EXAMPLE.com.", "https://раypal.com", "https://example.com:0", "https://example.com:65536", "file:///etc/passwd",
		"gopher://example.com", "unix:///run/x.sock", "https://example.com/../x", "get https://example.com", "https://example.com?x", "TRACE https://example.com",
	}
	for name, bad := range map[string][]string{
		toolabi.FuncHTTPFetch:     append([]string{"POST https://example.com"}, web...),
		toolabi.FuncHTTPSend:      append([]string{"GET,HEAD https://example.com"}, web...),
		toolabi.FuncSecretHas:     {"*", "", "Key", "a b", "{{secret:a}}", strings.Repeat("a", 65)},
		toolabi.FuncConfigGet:     {"*", "", "../x", "a.b"},
		toolabi.FuncKVGet:         {"*", "", "a_b", "Shop", "../x"},
		toolabi.FuncKVPut:         {"*", ""},
		toolabi.FuncKVCAS:         {"*"},
		toolabi.FuncKVDelete:      {"*"},
		toolabi.FuncKVList:        {"*"},
		toolabi.FuncMailSend:      {"*", "", "ann", "ann@", "@", "ann@*", "a b@example.com", "ann@example.com.", "ann@127.0.0.1", "ann@bücher.example", "Ann <ann@example.com>", "ann@example.com\r\n", "a@b@example.com"},
		toolabi.FuncArtifactPut:   {"x"},
		toolabi.FuncWorkspaceRead: {"x"},
	} {
		for _, target := range bad {
			err := hostfuncs.CheckTargets(toolabi.Capability{Name: name, Targets: []string{target}})
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s with the target %q: %v, want an error that names it", name, target, err)
			}
		}
	}
	for name, good := range map[string][]string{
		toolabi.FuncHTTPFetch: {"https://example.com", "GET https://example.com/a", "GET,POST http://localhost:8080/", "http://127.0.0.1:9"},
		toolabi.FuncHTTPSend:  {"https://xn--bcher-kva.example", "POST https://example.com/v1/charges"},
		toolabi.FuncSecretHas: {"stripe_key"}, toolabi.FuncConfigGet: {"region"}, toolabi.FuncKVList: {"shop"}, toolabi.FuncMailSend: {"ann@example.com", "@example.com"},
		toolabi.FuncToolCall: {"text.upper"}, toolabi.FuncArtifactGet: nil,
	} {
		if err := hostfuncs.CheckTargets(toolabi.Capability{Name: name, Targets: good}); err != nil {
			t.Errorf("%s with the targets %q: %v", name, good, err)
		}
	}
}

// A list that is there and empty must not be read as everything.
func TestAnEmptyListOfTargetsIsRefused(t *testing.T) {
	if err := hostfuncs.CheckTargets(toolabi.Capability{Name: toolabi.FuncHTTPSend, Targets: []string{}}); err == nil {
		t.Error("an empty list passes")
	}
	m := toolabi.Manifest{Name: "m", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "t"}},
		Capabilities: []toolabi.Capability{{Name: toolabi.FuncHTTPSend, Reason: "to send", Targets: []string{}}}}
	if err := m.Validate(); err == nil {
		t.Error("a manifest with an empty list passes")
	}
}
