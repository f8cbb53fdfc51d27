package hostfuncs_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

const canary = "canary-4f1d9a7c/+e"

// armed is a call whose module may refer to the secret token, bound to origins and holding the canary, and that may reach them
// and more.
func armed(cfg *hostfuncs.Config, origins []string, more ...string) hostfuncs.Call {
	cfg.Secrets = reading(map[string]string{"env:TOKEN": canary, "env:BROKEN": "broken\r\nX: value"})
	c := granted(append(more, origins...)...)
	c.Module, c.Secrets = "shop", []string{"token", "broken"}
	c.Grants.Secrets = []hostfuncs.SecretGrant{{Name: "token", Source: "env:TOKEN", Origins: origins}, {Name: "broken", Source: "env:BROKEN"}}
	return c
}

// inAnyForm says whether the canary is in something that was shown.
func inAnyForm(v any) bool {
	s := fmt.Sprintf("%+v", v)
	if r, ok := v.(toolabi.HTTPReply); ok {
		s += string(r.Body)
	}
	for _, form := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), hex.EncodeToString([]byte(canary)), url.QueryEscape(canary)} {
		if strings.Contains(s, form) {
			return true
		}
	}
	return false
}

func TestSecretsAreFilledInOnTheWireAndNowhereElse(t *testing.T) {
	var got *http.Request
	s := serveRaw(t, func(s *rawServer, c net.Conn) {
		if s.readRequest(c) {
			s.mu.Lock()
			got = s.requests[0]
			s.mu.Unlock()
			fmt.Fprintf(c, "HTTP/1.1 200 %[1]s\r\nX-Echo: %[1]s\r\nX-%[3]s: y\r\nX-B64: %[2]s\r\n\r\nyou said %[1]s, %[2]s and %[4]s",
				canary, base64.StdEncoding.EncodeToString([]byte(canary)), hex.EncodeToString([]byte(canary)), url.QueryEscape(canary))
		}
	})
	cfg := hostfuncs.Config{}
	c := armed(&cfg, []string{s.url})
	req := post(s.url)
	req.Headers = []toolabi.Header{{Name: "Authorization", Value: "Bearer {{secret:token}}"}}
	req.Body = []byte(`{"key":"{{secret:token}}","again":"{{secret:token}}"}`)
	reply, err := send(t, cfg, c, req)
	if err != nil || reply.Status != 200 {
		t.Fatalf("got %+v, %v", reply, err)
	}
	want := strings.ReplaceAll(string(req.Body), "{{secret:token}}", canary)
	if got.Header.Get("Authorization") != "Bearer "+canary || s.bodies[0] != want || got.ContentLength != int64(len(want)) {
		t.Errorf("arrived: %+v with the body %q of %d bytes", got.Header, s.bodies[0], got.ContentLength)
	}
	if got.Header.Get("Accept-Encoding") != "identity" {
		t.Errorf("asked for %q", got.Header["Accept-Encoding"])
	}
	if inAnyForm(reply) || !strings.Contains(string(reply.Body), "you said [secret:token]") || reply.Header("X-Echo") != "[secret:token]" {
		t.Errorf("the tool is shown %+v", reply)
	}
	f := function(t, toolabi.FuncHTTPSend)
	shown, err := f.ShowRequest(encode(t, req))
	if err != nil || inAnyForm(string(shown)) || inAnyForm(f.Describe(encode(t, req))) {
		t.Errorf("it is shown as %s", shown)
	}
}

func TestSecretsAreJudgedBeforeAnythingIsReadOrSent(t *testing.T) {
	const url, other = "http://127.0.0.1:9", "http://127.0.0.1:8"
	for name, tt := range map[string]struct {
		to, header, body string
		code             toolabi.Code
	}{
		"another origin":        {other, "{{secret:token}}", "", toolabi.Denied},
		"another origin's body": {other, "", "{{secret:token}}", toolabi.Denied},
		"not bound":             {url, "{{secret:broken}}", "", toolabi.Denied},
		"not named":             {url, "{{secret:hidden}}", "", toolabi.Denied},
		"no name":               {url, "{{secret:}}", "", toolabi.Invalid},
		"no end":                {url, "", "{{secret:token", toolabi.Invalid},
		"a name within a name":  {url, "{{secret:{{secret:token}}}}", "", toolabi.Invalid},
		"a path for a name":     {url, "", "{{secret:../token}}", toolabi.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := noNetwork(t)
			c := armed(&cfg, []string{url}, other)
			cfg.Secrets = hostfuncs.NewVault(func(context.Context, string) ([]byte, error) {
				t.Error("a secret was read")
				return nil, io.EOF
			})
			req := post(tt.to)
			if tt.body != "" {
				req.Body = []byte(tt.body)
			}
			if tt.header != "" {
				req.Headers = []toolabi.Header{{Name: "X", Value: tt.header}}
			}
			_, err := send(t, cfg, c, req)
			if e := wantError(t, err, tt.code, toolabi.EffectNone); e.Detail != "secret" {
				t.Errorf("got %+v", e)
			}
			err = function(t, toolabi.FuncHTTPSend).Check(c, encode(t, req))
			wantError(t, err, tt.code, toolabi.EffectNone)
		})
	}
}

func TestFilledValuesAreJudgedAgain(t *testing.T) {
	const url = "http://127.0.0.1:9"
	long := strings.Repeat("k", 8000)
	for name, tt := range map[string]struct {
		value, header, body string
		code                toolabi.Code
	}{
		"a line break":        {"broken\r\nX: value", "{{secret:token}}", "", toolabi.Invalid},
		"a blank at the end":  {"broken value ", "{{secret:token}}", "", toolabi.Invalid},
		"headers too long":    {long, strings.Repeat("{{secret:token}}", 3), "", tooLarge},
		"a body too long":     {long, "", strings.Repeat("{{secret:token}}", toolabi.MaxHTTPBody/8000+1), tooLarge},
		"what cannot be read": {"short", "{{secret:token}}", "", unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := noNetwork(t)
			c := armed(&cfg, []string{url})
			cfg.Secrets = reading(map[string]string{"env:TOKEN": tt.value})
			req := post(url)
			if tt.body != "" {
				req.Body = []byte(tt.body)
			}
			if tt.header != "" {
				req.Headers = []toolabi.Header{{Name: "X", Value: tt.header}}
			}
			_, err := send(t, cfg, c, req)
			if e := wantError(t, err, tt.code, toolabi.EffectNone); strings.Contains(e.Message, tt.value) {
				t.Errorf("the message shows the value: %s", e.Message)
			}
		})
	}
}

// The value of a secret must be known before the first reply of its origin, also to a request that does not use it.
func TestAnOriginWithASecretThatCannotBeReadIsNotAsked(t *testing.T) {
	const url = "http://127.0.0.1:9"
	cfg := noNetwork(t)
	c := armed(&cfg, []string{url})
	cfg.Secrets = reading(nil)
	_, err := send(t, cfg, c, post(url))
	if e := wantError(t, err, unavailable, toolabi.EffectNone); e.Detail != "secret" || e.Retry != toolabi.RetrySafe {
		t.Errorf("got %+v", e)
	}
}

// W50: what comes back of a secret is hidden in redirects, errors and artifacts too.
func TestASecretThatAServerRepeatsReachesNobody(t *testing.T) {
	escaped := url.QueryEscape(canary)
	for name, tt := range map[string]struct {
		answers map[string]string
		grants  []string
		status  uint16
	}{
		"a URL":                 {map[string]string{"a.example/x": to(302, "/y?t="+escaped)}, nil, 200},
		"a host":                {map[string]string{"a.example/x": to(302, "http://"+strings.ToLower(hex.EncodeToString([]byte(canary)))+".example/")}, nil, 0},
		"a path that is denied": {map[string]string{"a.example/x": to(302, "http://b.example/"+escaped)}, []string{"http://b.example/pub"}, 0},
		"a garbled place":       {map[string]string{"a.example/x": to(302, "http://"+canary+"/")}, nil, 0},
		"a header's name":       {map[string]string{"a.example/x": "HTTP/1.1 200 OK\r\n" + hex.EncodeToString([]byte(canary)) + ": x\r\n\r\n"}, nil, 200},
		"a status line":         {map[string]string{"a.example/x": "HTTP/1.1 " + canary + "\r\n\r\n"}, nil, 0},
		"a bad header":          {map[string]string{"a.example/x": "HTTP/1.1 200 OK\r\n" + canary + "\r\n\r\n"}, nil, 0},
		"a bad chunk":           {map[string]string{"a.example/x": chunkedHead + canary + "\r\n"}, nil, 0},
		"an encoding":           {map[string]string{"a.example/x": "HTTP/1.1 200 OK\r\nContent-Encoding: " + canary + "\r\n\r\nx"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := redirecting(t, tt.answers)
			cfg := w.everywhere()
			c := armed(&cfg, []string{"http://a.example"}, tt.grants...)
			reply, err := fetch(t, cfg, c, get("http://a.example/x", 5))
			if reply.Status != tt.status || (err != nil) != (tt.status == 0) || inAnyForm(reply) || err != nil && inAnyForm(err.Error()) {
				t.Errorf("got %+v, %v", reply, err)
			}
		})
	}
	s := replies(t, "HTTP/1.1 200 OK\r\n\r\nbefore "+canary+" behind")
	var cfg hostfuncs.Config
	c := armed(&cfg, []string{s.url})
	kept := new(shelf)
	c.Artifacts, c.Grants.Artifacts = kept, 1000
	reply, err := fetch(t, cfg, c, toolabi.HTTPRequest{Method: "GET", URL: s.url, ToArtifact: 1000})
	if want := "before [secret:token] behind"; err != nil || reply.Artifact != nameOf(want) || reply.Size != uint64(len(want)) {
		t.Errorf("got %+v, %v, kept %q", reply, err, kept.items)
	}
}

func TestSecretsAreFilledInForEachHopAnew(t *testing.T) {
	w := redirecting(t, map[string]string{"a.example/1": to(302, "/2"), "a.example/2": to(302, "http://b.example/3")})
	cfg := w.everywhere()
	c := armed(&cfg, []string{"http://a.example"}, "http://b.example")
	req := get("http://a.example/1", 5)
	req.Headers = []toolabi.Header{{Name: "Authorization", Value: "{{secret:token}}"}, {Name: "User-Agent", Value: "x {{secret:token}}"}, {Name: "Accept", Value: "text/plain"}}
	reply, err := fetch(t, cfg, c, req)
	if err != nil || reply.URL != "http://b.example/3" {
		t.Fatalf("got %+v, %v", reply, err)
	}
	for i, head := range w.heads {
		if there := inAnyForm(head); there != (i < 2) {
			t.Errorf("hop %d has %q", i, head)
		}
	}
	if w.heads[2].Get("Accept") != "text/plain" || w.heads[2].Get("User-Agent") != "wrun" {
		t.Errorf("the last hop has %q", w.heads[2])
	}
}

// What is compressed, or cut into pieces, could hide a value.
func TestAReplyThatCouldHideASecretIsAnError(t *testing.T) {
	for _, name := range []string{"Accept-Encoding", "accept_encoding", "Range", "If-Range", "request_range", "A-IM", "Accept-Charset"} {
		const url = "http://127.0.0.1:9"
		cfg := noNetwork(t)
		c := armed(&cfg, []string{url})
		req := post(url)
		req.Headers = []toolabi.Header{{Name: name, Value: "gzip"}}
		_, err := send(t, cfg, c, req)
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
	s := replies(t, zip(gzipped("before "+canary+" behind")))
	for _, undo := range []bool{false, true} {
		var cfg hostfuncs.Config
		c := armed(&cfg, []string{s.url})
		req := post(s.url)
		req.Decompress = undo
		reply, err := send(t, cfg, c, req)
		if undo {
			if err != nil || string(reply.Body) != "before [secret:token] behind" {
				t.Errorf("got %+v, %v", reply, err)
			}
			continue
		}
		if e := wantError(t, err, unavailable, applied); e.Detail != "encoding" {
			t.Errorf("got %+v", e)
		}
	}
}

// A mark can be longer than the value that it stands for, and a body is as long as its cap says when the tool gets it.
func TestMarksCountTowardsTheLengthOfABody(t *testing.T) {
	const value = "short-01"
	s := serveRaw(t, func(s *rawServer, c net.Conn) {
		if s.readRequest(c) {
			body := strings.Repeat(value+"-", toolabi.MaxHTTPBody/(len(value)+1))
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	})
	cfg := hostfuncs.Config{}
	c := armed(&cfg, []string{s.url})
	cfg.Secrets = reading(map[string]string{"env:TOKEN": value})
	reply, err := send(t, cfg, c, post(s.url))
	if wantError(t, err, tooLarge, toolabi.EffectApplied); len(reply.Body) > toolabi.MaxHTTPBody {
		t.Errorf("the tool is given %d bytes", len(reply.Body))
	}
}

// Too much that looks like a value is an error of the reply: it is neither handed on nor cut.
func TestABodyFullOfWhatLooksLikeAValueIsAnError(t *testing.T) {
	value := strings.Repeat("ab", 4096)
	s := serveRaw(t, func(s *rawServer, c net.Conn) {
		if s.readRequest(c) {
			body := strings.Repeat(value[2:]+"c", 128)
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	})
	for _, keep := range []uint64{0, 64 << 20} {
		cfg := hostfuncs.Config{}
		c := armed(&cfg, []string{s.url})
		cfg.Secrets = reading(map[string]string{"env:TOKEN": value})
		c.Artifacts, c.Grants.Artifacts = &shelf{}, 64<<20
		req := post(s.url)
		req.ToArtifact = keep
		_, err := send(t, cfg, c, req)
		e := wantError(t, err, unavailable, toolabi.EffectApplied)
		if e.Detail != "secret" || !strings.Contains(e.Message, "status 200") || strings.Contains(e.Message, "abab") {
			t.Errorf("got %+v", e)
		}
		if n, _, _ := c.Artifacts.Usage(t.Context()); n != 0 {
			t.Errorf("%d artifacts were kept", n)
		}
	}
}

// A header that is no UTF-8 is read as ISO 8859-1, and so becomes the value that nothing was found of in its bytes.
func TestAValueInAnotherCharacterSetReachesNobody(t *testing.T) {
	const value, written = "pässwörd-of-é", "p\xe4ssw\xf6rd-of-\xe9"
	s := serveRaw(t, func(s *rawServer, c net.Conn) {
		if s.readRequest(c) {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nX-Echo: %[1]s\r\nX-Odd: \xff\xc3\r\n\r\nyou said %[1]s, %[2]s and %[3]s",
				written, base64.StdEncoding.EncodeToString([]byte("u:"+written)), url.QueryEscape(written))
		}
	})
	cfg := hostfuncs.Config{}
	c := armed(&cfg, []string{s.url})
	cfg.Secrets = reading(map[string]string{"env:TOKEN": value})
	reply, err := send(t, cfg, c, post(s.url))
	if err != nil || reply.Header("X-Echo") != "[secret:token]" || reply.Header("X-Odd") != "ÿÃ" {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if got := string(reply.Body); !strings.HasPrefix(got, "you said [secret:token], ") || !strings.HasSuffix(got, " and [secret:token]") || strings.Count(got, "[secret:token]") != 3 {
		t.Errorf("the body is %q", got)
	}
}
