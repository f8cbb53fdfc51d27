package hostfuncs_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
)

func TestParseOriginHasOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"https://api.example.com":            "https://api.example.com",
		"HTTPS://API.Example.COM":            "https://api.example.com",
		"https://api.example.com:443":        "https://api.example.com",
		"http://api.example.com:80":          "http://api.example.com",
		"http://api.example.com:443":         "http://api.example.com:443",
		"https://api.example.com:80":         "https://api.example.com:80",
		"https://api.example.com:8443":       "https://api.example.com:8443",
		"https://api.example.com:65535":      "https://api.example.com:65535",
		"http://localhost:8080":              "http://localhost:8080",
		"http://127.0.0.1":                   "http://127.0.0.1",
		"http://127.0.0.1:9":                 "http://127.0.0.1:9",
		"http://[::1]":                       "http://[::1]",
		"http://[::1]:8080":                  "http://[::1]:8080",
		"http://[0:0:0:0:0:0:0:1]:80":        "http://[::1]",
		"http://[2001:DB8:0:0::A]":           "http://[2001:db8::a]",
		"https://xn--bcher-kva.example":      "https://xn--bcher-kva.example",
		"https://a_b.example.com":            "https://a_b.example.com",
		"https://1.example.com":              "https://1.example.com",
		"https://0x7f.example":               "https://0x7f.example",
		"https://db":                         "https://db",
		"https://1.2.3.com":                  "https://1.2.3.com",
		"https://1e100.net":                  "https://1e100.net",
		"https://" + strings.Repeat("a", 63): "https://" + strings.Repeat("a", 63),
	} {
		got, err := hostfuncs.ParseOrigin(in)
		if err != nil || got != want {
			t.Errorf("ParseOrigin(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestParseOriginRefusesWhatCouldBeReadInTwoWays(t *testing.T) {
	for _, in := range []string{
		"", "*", "https://", "http://*", "https://*.example.com", "*.com", "localhost", "example.com", "//example.com",
		"https:/example.com", "https:example.com", "ftp://example.com", "file:///etc/passwd", "gopher://x", "unix:///run/x",
		"javascript://x", " https://example.com", "https://example.com ", "https://exa mple.com", "https://example.com\n",
		"https://example.com\x00", "https://EXAMPLE.com.", "https://example..com", "https://.example.com", "https://.",
		"https://example.com/", "https://example.com/x", "https://example.com?x", "https://example.com#x", `https://example.com\`,
		`https://good.com\@evil.com`, "https://user@example.com", "https://user:secret@example.com", "https://@example.com",
		"https://example.com:", "https://example.com:0", "https://example.com:65536", "https://example.com:99999999999",
		"https://example.com:-1", "https://example.com:+80", "https://example.com:080", "https://example.com:80:80",
		"https://example.com:8o", "https://:443", "https://2130706433", "https://127.1", "https://0x7f000001", "https://0x7f.1",
		"https://017700000001", "https://0177.0.0.1", "https://127.0.0.01", "https://127.0.0.256", "https://1.2.3.4.5",
		"https://0x", "https://example.0x7f", "https://example.1", "https://127.0.0.1.", "https://::1", "https://[::1", "https://::1]",
		"https://[]", "https://[127.0.0.1]", "https://[::ffff:127.0.0.1]", "https://[::ffff:7f00:1]", "https://[fe80::1%eth0]",
		"https://[fe80::1%25eth0]", "https://[::1]x", "https://[::1]:0", "https://[v1.a]", "https://x[::1]", "https://-a.com",
		"https://a-.com", "https://bücher.example", "https://раypal.com", "https://ｅxample.com", "https://example。com",
		"https://ex%61mple.com", "https://a,b", "https://a;b", "https://a'b", "https://a!b", "https://" + strings.Repeat("a", 64),
		"https://" + strings.Repeat("abcdefg.", 32) + "com", "https://" + strings.Repeat("a.", 4000) + "com", "https://\u202eexample.com",
		"https://\xff", "https://example.com\u2028",
	} {
		got, err := hostfuncs.ParseOrigin(in)
		if err == nil {
			t.Errorf("ParseOrigin(%q) = %q, want an error", in, got)
			continue
		}
		if strings.Contains(err.Error(), "secret") || len(err.Error()) > 400 {
			t.Errorf("ParseOrigin(%.60q): the error says too much: %v", in, err)
		}
	}
}

func ExampleParseOrigin() {
	fmt.Println(hostfuncs.ParseOrigin("HTTPS://API.Example.com:443"))
	fmt.Println(hostfuncs.ParseOrigin("https://0x7f.1"))
	// Output:
	// https://api.example.com <nil>
	//  origin "https://0x7f.1": a host that ends in a number must be four decimal numbers from 0 to 255
}

func FuzzParseOrigin(f *testing.F) {
	for _, s := range []string{"https://api.example.com:443", "http://[::1]:8080", "http://127.0.0.1", "https://u@h", "http://a\\b", "HTTP://A.b:1", "https://[::ffff:1.2.3.4]", "https://1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := hostfuncs.ParseOrigin(s)
		if err != nil {
			return
		}
		if again, err := hostfuncs.ParseOrigin(got); err != nil || again != got {
			t.Fatalf("%q is canonical for %q and reads as %q, %v", got, s, again, err)
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme+"://"+u.Host != got || u.User != nil || u.Path != "" || strings.ToLower(got) != got {
			t.Fatalf("%q from %q is read otherwise by net/url: %+v, %v", got, s, u, err)
		}
		// What net/url finds in the original must be the same host.
		if v, err := url.Parse(s); err == nil {
			a, errA := netip.ParseAddr(v.Hostname())
			b, errB := netip.ParseAddr(u.Hostname())
			if (errA == nil) != (errB == nil) || errA == nil && a != b || errA != nil && !strings.EqualFold(v.Hostname(), u.Hostname()) {
				t.Fatalf("%q has the host %q and became %q", s, v.Hostname(), u.Hostname())
			}
		}
	})
}
