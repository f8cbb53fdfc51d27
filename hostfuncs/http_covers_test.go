package hostfuncs_test

import (
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
)

func TestAGrantCoversWhatItAllows(t *testing.T) {
	for _, c := range []struct {
		g, o string
		want bool
	}{
		{"https://a.example", "https://a.example", true},
		{"https://a.example", "GET,POST https://a.example/x", true},
		{"https://a.example", "https://b.example", false},
		{"https://a.example", "http://a.example", false},
		{"GET,POST https://a.example", "POST https://a.example/x", true},
		{"POST https://a.example", "GET,POST https://a.example", false},
		{"POST https://a.example", "https://a.example", false},
		{"https://a.example/v1", "https://a.example/v1/charges", true},
		{"https://a.example/v1", "https://a.example/v1", true},
		{"https://a.example/v1", "https://a.example/v10", false},
		{"https://a.example/v1", "https://a.example", false},
		{"https://a.example/v1/", "https://a.example/v1/x", true},
		{"https://a.example/v1/charges", "https://a.example/v1", false},
	} {
		g, err := hostfuncs.ParseHTTPGrant(c.g)
		o, err2 := hostfuncs.ParseHTTPGrant(c.o)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if got := g.Covers(o); got != c.want {
			t.Errorf("%s covers %s: %v, want %v", c.g, c.o, got, c.want)
		}
	}
}

func TestAGrantOfAnAddressSaysWhatThatIs(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.example": "", "http://127.0.0.1:8080": "loopback", "POST http://169.254.169.254/latest": "link-local", "http://[fd00::1]": "private",
		"http://10.1.2.3": "private", "https://8.8.8.8": "", "http://localhost": "",
	} {
		g, err := hostfuncs.ParseHTTPGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Kind(); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
