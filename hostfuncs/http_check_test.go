package hostfuncs_test

import (
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// What will never be sent is refused before anything is written about it.
func TestRequestsAreJudgedBeforeTheirIntent(t *testing.T) {
	funcs := map[string]hostfuncs.Func{}
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		funcs[f.Name] = f
	}
	granted := hostfuncs.Grants{HTTP: []string{"https://a.example"}}
	for _, tt := range []struct {
		function, method, url string
		want                  error
	}{
		{toolabi.FuncHTTPSend, "POST", "https://a.example/x", nil},
		{toolabi.FuncHTTPSend, "POST", "https://b.example/x", toolabi.Denied},
		{toolabi.FuncHTTPSend, "GET", "https://a.example/x", toolabi.Invalid},
		{toolabi.FuncHTTPSend, "POST", "a.example", toolabi.Invalid},
		{toolabi.FuncHTTPFetch, "GET", "https://a.example/x", nil},
		{toolabi.FuncHTTPFetch, "POST", "https://a.example/x", toolabi.Invalid},
		{toolabi.FuncHTTPFetch, "GET", "http://a.example/x", toolabi.Denied},
	} {
		raw, err := toolabi.Encode(toolabi.HTTPRequest{Method: tt.method, URL: tt.url})
		if err != nil {
			t.Fatal(err)
		}
		err = funcs[tt.function].Check(hostfuncs.Call{Grants: granted}, raw)
		if tt.want == nil && err != nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s %s %s: %v, want %v", tt.function, tt.method, tt.url, err, tt.want)
		}
	}
	if err := funcs[toolabi.FuncHTTPSend].Check(hostfuncs.Call{}, []byte{0xff}); !errors.Is(err, toolabi.Invalid) {
		t.Errorf("garbage: %v", err)
	}
}
