package hostfuncs_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// A grant of a method or a path would be worth nothing if a header could say otherwise.
func TestAHeaderMakesNoOtherRequestOfTheOneThatIsGranted(t *testing.T) {
	const origin = "https://x.example"
	for _, tt := range []struct {
		grant, header string
		want          bool
	}{
		{origin, "X-HTTP-Method-Override", true},
		{origin + "/pub/", "X-HTTP-Method-Override", true},
		{"POST " + origin, "X-HTTP-Method-Override", false},
		{"POST " + origin + "/pub/", "x_http_method_override", false},
		{"POST " + origin, "X-HTTP-METHOD", false},
		{"DELETE,POST " + origin, "X-Method-Override", false},
		{origin, "X-Rewrite-URL", true},
		{"POST " + origin, "X-Rewrite-URL", true},
		{origin + "/pub/", "X-Rewrite-URL", false},
		{"POST " + origin + "/pub/", "x-original_url", false},
		{origin + "/pub/", "X-Original-URI", false},
		{origin + "/pub/", "X-Override-Url", false},
		{"POST " + origin + "/pub/", "X-Request-Id", true},
	} {
		req := toolabi.HTTPRequest{Method: "POST", URL: origin + "/pub/x", Headers: []toolabi.Header{{Name: tt.header, Value: "/admin"}}}
		named := granted(origin)
		named.Targets = []string{tt.grant}
		for what, c := range map[string]hostfuncs.Call{"grant": granted(tt.grant), "target": named} {
			err := function(t, toolabi.FuncHTTPSend).Check(c, encode(t, req))
			if tt.want != (err == nil) {
				t.Errorf("%s with the %s %s: %v, want it allowed: %v", tt.header, what, tt.grant, err, tt.want)
			}
			if err == nil {
				continue
			}
			e := wantError(t, err, toolabi.Denied, toolabi.EffectNone)
			_, flag, ok := strings.Cut(e.Message, "--allow-http ")
			if !ok {
				continue
			}
			flag, _, _ = strings.Cut(strings.TrimPrefix(flag, `"`), ")")
			c.Grants.HTTP = append(c.Grants.HTTP, strings.Trim(flag, `"`))
			if err := function(t, toolabi.FuncHTTPSend).Check(c, encode(t, req)); err != nil {
				t.Errorf("%s under %s with the flag that was named: %v", tt.header, tt.grant, err)
			}
		}
	}
	req := toolabi.HTTPRequest{Method: "GET", URL: origin, Headers: []toolabi.Header{{Name: "X-HTTP-Method-Override", Value: "DELETE"}}}
	wantError(t, function(t, toolabi.FuncHTTPFetch).Check(granted(origin), encode(t, req)), toolabi.Invalid, toolabi.EffectNone)
}
