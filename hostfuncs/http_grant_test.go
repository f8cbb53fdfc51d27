package hostfuncs_test

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestAGrantOfHTTPHasOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"https://api.example.com":                        "https://api.example.com",
		"HTTPS://API.example.com:443":                    "https://api.example.com",
		"https://api.example.com/":                       "https://api.example.com",
		"POST https://api.example.com/":                  "POST https://api.example.com",
		"POST https://api.example.com/v1/charges":        "POST https://api.example.com/v1/charges",
		"HEAD,GET,GET https://x.example/pub/":            "GET,HEAD https://x.example/pub/",
		"M-SEARCH http://[::1]:8080/a":                   "M-SEARCH http://[::1]:8080/a",
		"https://x.example/%76%31/caf%c3%a9":             "https://x.example/v1/caf%C3%A9",
		"https://x.example/a%20b/$x!/~y":                 "https://x.example/a%20b/%24x%21/~y",
		"https://x.example/a@b:c,d=(e)":                  "https://x.example/a@b:c,d=(e)",
		"https://x.example/" + strings.Repeat("a", 1023): "https://x.example/" + strings.Repeat("a", 1023),
	} {
		g, err := hostfuncs.ParseHTTPGrant(in)
		if err != nil || g.String() != want {
			t.Errorf("%q is %q, %v, want %q", in, g, err, want)
		}
	}
}

func TestGrantsOfHTTPThatCouldBeReadInTwoWaysAreRefused(t *testing.T) {
	for _, in := range []string{
		"", " ", "POST", "POST ", "*", "https://*", "* https://x.example", " https://x.example", "POST  https://x.example", "https://x.example POST",
		"post https://x.example", ",GET https://x.example", "GET, https://x.example", "GET,,HEAD https://x.example", "GET,\tHEAD https://x.example",
		"CONNECT https://x.example", "TRACE https://x.example", "PRI https://x.example", "P\r\nX https://x.example", strings.Repeat("P", 33) + " https://x.example",
		strings.Repeat("GET,", 16) + "GET https://x.example", "https://x.example?q", "https://x.example/?q", "https://x.example/a#b", `https://x.example\a`,
		`https://x.example/a\b`, "https://x.example//", "https://x.example//a", "https://x.example/a//b", "https://x.example/a//", "https://x.example/.",
		"https://x.example/..", "https://x.example/a/../b", "https://x.example/a/%2e%2e/b", "https://x.example/a/.%2E/b", "https://x.example/...", "https://x.example/a/..%20/b",
		"https://x.example/a%2fb", "https://x.example/a%2Fb", "https://x.example/a%5cb", "https://x.example/a;b", "https://x.example/a%3bb", "https://x.example/a%252fb",
		"https://x.example/%00", "https://x.example/%7f", "https://x.example/a%0d%0ab", "https://x.example/%c0%ae%c0%ae/", "https://x.example/%ff", "https://x.example/%ef%bc%8e%ef%bc%8e/",
		"https://x.example/a b", "https://x.example/é", "https://x.example/%", "https://x.example/%4", "https://x.example/%zz", "https://x.example/*\x00",
		"https://x.example/" + strings.Repeat("a", 1024), "https://x.example/" + strings.Repeat("$", 400), "https://u:secret@x.example/a", "file:///etc/passwd", "https://127.1/a",
	} {
		if g, err := hostfuncs.ParseHTTPGrant(in); err == nil {
			t.Errorf("%.80q is read as %q", in, g)
		} else if strings.Contains(err.Error(), "secret") || len(err.Error()) > 400 {
			t.Errorf("%.80q: the error says too much: %v", in, err)
		}
	}
}

// judged asks http_fetch or http_send whether a request is permitted, without sending it.
func judged(t testing.TB, c hostfuncs.Call, method, url string) error {
	t.Helper()
	name := toolabi.FuncHTTPSend
	if method == "GET" || method == "HEAD" {
		name = toolabi.FuncHTTPFetch
	}
	return function(t, name).Check(c, encode(t, toolabi.HTTPRequest{Method: method, URL: url}))
}

func TestAGrantWithAPathEndsAtTheBorderOfASegment(t *testing.T) {
	for _, tt := range []struct {
		grant, method, url string
		want               bool
	}{
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/charges", true},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/charges/", true},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/charges/7", true},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/charges?x", true},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/charges?x=../../a//b%2f;", true},
		{"https://x.example/v1/charges", "POST", "https://x.example/%76%31/ch%61rges/7", true},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/charges/caf%c3%a9", true},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/chargesx", false},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1/charges.json", false},
		{"https://x.example/v1/charges", "POST", "https://x.example/v1", false},
		{"https://x.example/v1/charges", "POST", "https://x.example/", false},
		{"https://x.example/v1/charges", "POST", "https://x.example?/v1/charges", false},
		{"https://x.example/v1/charges", "POST", "https://x.example/V1/charges", false},
		{"https://x.example/v1/charges", "POST", "https://x.example:444/v1/charges", false},
		{"https://x.example/v1/charges", "POST", "http://x.example/v1/charges", false},
		{"https://x.example/pub/", "GET", "https://x.example/pub/", true},
		{"https://x.example/pub/", "GET", "https://x.example/pub/a/b", true},
		{"https://x.example/pub/", "GET", "https://x.example/pub", false},
		{"https://x.example/pub/", "GET", "https://x.example/public", false},
		{"https://x.example", "GET", "https://x.example/a/../b//c%2f;d", true},
		{"GET,HEAD https://x.example/pub/", "HEAD", "https://x.example/pub/x", true},
		{"GET,HEAD https://x.example/pub/", "POST", "https://x.example/pub/x", false},
		{"POST https://x.example", "POST", "https://x.example/any/../where", true},
		{"POST https://x.example", "post", "https://x.example/any", false},
		{"POST https://x.example", "GET", "https://x.example/any", false},
		{"not a grant", "GET", "https://x.example/any", false},
	} {
		err := judged(t, granted(tt.grant), tt.method, tt.url)
		if tt.want != (err == nil) {
			t.Errorf("%s under %q: %v, want it allowed: %v", tt.url, tt.grant, err, tt.want)
		}
		if err != nil {
			wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		}
		named := granted("https://x.example", "http://x.example", "https://x.example:444")
		named.Targets = []string{tt.grant}
		if err := judged(t, named, tt.method, tt.url); tt.want != (err == nil) {
			t.Errorf("%s with the target %q: %v, want it allowed: %v", tt.url, tt.grant, err, tt.want)
		}
	}
}

func TestAPathThatCouldBeReadInTwoWaysIsNotUnderAPath(t *testing.T) {
	for _, p := range []string{
		"/pub/../admin", "/pub/./x", "/pub/..", "/pub/%2e%2e/admin", "/pub/%2E./admin", "/pub/.%2e/admin", "/pub/..%2fadmin", "/pub/..%5cadmin", "/pub/x%2f..%2f..%2fadmin",
		"/pub//admin", "//pub/x", "/pub/x//", "/pub;/x", "/pub/..;/admin", "/pub/x;a=b", "/pub/..%3b/admin", "/pub/%252e%252e/admin", "/pub/%25%32%65/x", "/pub/%c0%ae%c0%ae/admin",
		"/pub/%e0%80%ae/x", "/pub/%c0%afadmin", "/pub/%ef%bc%8e%ef%bc%8e/admin", "/pub/x%ef%bc%8fadmin", "/pub/x%00.png", "/pub/x%0a", "/pub/x%7f", "/pub/.../x", "/pub/..%20/x", "/pub/%20/x",
		"/pub/%2e%2e%2fadmin", "/pub/%uff0e", "/%70ub/%2e%2e/admin", "/pub/..%c2%a0/admin", "/pub/..%e2%80%8b/admin", "/pub/.%c2%ad./admin", "/pub/%ef%bb%bf../admin", "/pub/%e2%80%a5/admin",
	} {
		for _, grant := range []string{"https://x.example/pub", "https://x.example/pub/"} {
			err := judged(t, granted(grant), "GET", "https://x.example"+p)
			if err == nil {
				t.Errorf("%s is allowed under %s", p, grant)
			}
		}
	}
	err := judged(t, granted("https://x.example/pub/"), "GET", "https://x.example/pub/../admin?token=hidden")
	e := wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	if !strings.Contains(e.Message, "two ways") || !strings.Contains(e.Message, `--allow-http "GET https://x.example"`) || strings.Contains(e.Message, "hidden") {
		t.Errorf("the message does not say what to do: %s", e.Message)
	}
}

func TestADenialNamesTheFlagThatWouldGrantNoMore(t *testing.T) {
	for _, tt := range []struct {
		grants      []string
		method, url string
		want        string
	}{
		{nil, "POST", "https://a.example/v1/charges?x", `: https://a.example is not granted (--allow-http https://a.example, or no more than --allow-http "POST https://a.example/v1/charges"); shop wants http_send to charge the card`},
		{[]string{"GET https://a.example"}, "POST", "https://a.example/v1/$x", `: POST https://a.example/v1/$x is not granted (--allow-http "POST https://a.example/v1/%24x"); shop wants`},
		{[]string{"https://a.example/v1"}, "POST", "https://a.example", `: POST https://a.example/ is not granted (--allow-http "POST https://a.example"); shop wants`},
	} {
		c := granted(tt.grants...)
		c.Module, c.Reason = "shop", "to charge\nthe card"
		e := wantError(t, judged(t, c, tt.method, tt.url), toolabi.Denied, toolabi.EffectNone)
		if !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s %s: %s\nwant %s", tt.method, tt.url, e.Message, tt.want)
		}
		_, flag, _ := strings.Cut(e.Message, `--allow-http "`)
		flag, _, _ = strings.Cut(flag, `"`)
		c.Grants.HTTP = append(c.Grants.HTTP, flag)
		if err := judged(t, c, tt.method, tt.url); err != nil {
			t.Errorf("%s %s with the flag that was named: %v", tt.method, tt.url, err)
		}
	}
}

func TestAnEmptyListOfGrantsAllowsNothing(t *testing.T) {
	for _, list := range [][]string{nil, {}, {""}, {"*"}, {"https://*"}} {
		err := judged(t, hostfuncs.Call{Grants: hostfuncs.Grants{HTTP: list}}, "GET", "https://a.example/")
		wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	}
}

func ExampleParseHTTPGrant() {
	g, err := hostfuncs.ParseHTTPGrant("POST,PUT HTTPS://api.example.com:443/v%31/charges")
	fmt.Println(g, err)
	// Output: POST,PUT https://api.example.com/v1/charges <nil>
}

func FuzzParseHTTPGrant(f *testing.F) {
	for _, s := range []string{"https://a.example", "POST https://a.example/v1/charges", "GET,HEAD http://[::1]:8080/pub/", "https://a.example/%7e%2f", "PUT,PUT HTTPS://A.b/$%20", "https://a/%c3%a9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := hostfuncs.ParseHTTPGrant(s)
		if err != nil {
			return
		}
		again, err := hostfuncs.ParseHTTPGrant(g.String())
		if err != nil || again.String() != g.String() {
			t.Fatalf("%q is canonical for %q and reads as %q, %v", g, s, again, err)
		}
		if origin, err := hostfuncs.ParseOrigin(g.Origin); err != nil || origin != g.Origin {
			t.Fatalf("%q has the origin %q", s, g.Origin)
		}
		if strings.ContainsAny(g.String(), "\"$`!\\\n\r") {
			t.Fatalf("%q cannot stand between double quotes", g)
		}
	})
}

// FuzzPathOfAGrant holds that whatever a grant with a path lets through is below it for whoever decodes the path once or twice
// and then cleans it, before or after.
func FuzzPathOfAGrant(f *testing.F) {
	for _, s := range []string{"x", "../admin", "%2e%2e/admin", "..%2fadmin", "%252e%252e/a", "a;b/..;/c", "a//b", "./", "%5c..", "%c0%ae%c0%ae/", "caf%c3%a9?x=/../", "..%00/", "%u002e"} {
		f.Add("/pub/", s)
		f.Add("/pub", "/"+s)
		f.Add("/a/b", s)
	}
	f.Fuzz(func(t *testing.T, prefix, rest string) {
		grant := "https://x.example" + prefix
		g, err := hostfuncs.ParseHTTPGrant(grant)
		if err != nil || g.Path == "" || judged(t, granted(grant), "GET", grant+rest) != nil {
			return
		}
		u, err := url.Parse(grant + rest)
		if err != nil {
			t.Fatalf("%q is let through and cannot be read: %v", grant+rest, err)
		}
		want, err := url.PathUnescape(strings.TrimSuffix(g.Path, "/"))
		if err != nil {
			t.Fatal(err)
		}
		twice, err := url.PathUnescape(u.Path)
		if err != nil {
			t.Fatalf("%q is let through and holds a percent sign", grant+rest)
		}
		for _, p := range []string{u.Path, path.Clean(u.Path), path.Clean(strings.ReplaceAll(twice, `\`, "/")), path.Clean(path.Clean(u.EscapedPath()))} {
			if p, err = url.PathUnescape(p); err != nil || p != want && !strings.HasPrefix(p, want+"/") {
				t.Fatalf("%q is let through by %q and read as %q, %v", grant+rest, g, p, err)
			}
		}
	})
}
