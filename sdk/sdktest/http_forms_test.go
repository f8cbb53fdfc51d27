package sdktest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// site answers every form of a request: it packs, leads on, keeps what it is sent, and says whom it was asked by.
func site(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/packed":
		if r.Header.Get("Accept-Encoding") != "gzip" {
			http.Error(w, "want gzip", http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "unpacked")
		z.Close()
	case "/torn":
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, "\x1f\x8b")
	case "/on":
		http.Redirect(w, r, "said?from=on", http.StatusFound)
	case "/away":
		http.Redirect(w, r, "https://other.test/said", http.StatusFound)
	case "/down":
		http.Redirect(w, r, "http://host.test/said", http.StatusFound)
	case "/round":
		http.Redirect(w, r, "/round", http.StatusFound)
	case "/said":
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %q %q %s", r.URL.Host, r.Header.Get("Authorization"), r.Header.Get("Accept"), body)
	}
}

// stageOf is the host of a tool of a module that may refer to the secret token, in World w.
func stageOf(t *testing.T, w *World) *stage {
	ask := func(name string) toolabi.Capability {
		return toolabi.Capability{Name: name, Reason: "to test", Secrets: []string{"token", "lost"}}
	}
	m := &toolabi.Manifest{Name: "m", Capabilities: []toolabi.Capability{
		ask(toolabi.FuncHTTPFetch), ask(toolabi.FuncHTTPSend),
		{Name: toolabi.FuncSecretHas, Targets: []string{"token", "lost"}}, {Name: toolabi.FuncConfigGet, Targets: []string{"page"}},
	}}
	return &stage{World: w, t: t, ctx: t.Context(), module: m, tool: toolabi.Tool{Name: "t", Idempotency: toolabi.Idempotent}}
}

// put makes one use of a function.
func put[Reply any](t *testing.T, s *stage, name string, req any) (reply Reply, err error) {
	t.Helper()
	raw, err := toolabi.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	b, failure := s.answer(name, raw)
	if failure != nil {
		return reply, failure
	}
	return reply, toolabi.Decode(b, &reply)
}

func TestFetchHasTheFormsOfTheHost(t *testing.T) {
	bearer := []toolabi.Header{{Name: "Authorization", Value: "Bearer {{secret:token}}"}, {Name: "Accept", Value: "text/plain"}}
	for name, c := range map[string]struct {
		req  toolabi.HTTPRequest
		body string
		url  string
	}{
		"packed":               {toolabi.HTTPRequest{URL: "https://host.test/packed", Decompress: true}, "unpacked", ""},
		"nothing to unpack":    {toolabi.HTTPRequest{URL: "https://host.test/said", Decompress: true}, `host.test "" "" `, ""},
		"within an origin":     {toolabi.HTTPRequest{URL: "https://host.test/on", Redirects: 1, Headers: bearer}, `host.test "Bearer [secret:token]" "text/plain" `, "https://host.test/said?from=on"},
		"across origins":       {toolabi.HTTPRequest{URL: "https://host.test/away", Redirects: 5, Headers: bearer}, `other.test "" "text/plain" `, "https://other.test/said"},
		"redirects not wanted": {toolabi.HTTPRequest{URL: "https://host.test/away"}, "<a href=\"https://other.test/said\">Found</a>.\n\n", ""},
	} {
		c.req.Method = http.MethodGet
		w := &World{HTTP: http.HandlerFunc(site), Secrets: map[string]string{"token": "s3cret"}}
		reply, err := put[toolabi.HTTPReply](t, stageOf(t, w), toolabi.FuncHTTPFetch, c.req)
		if err != nil || string(reply.Body) != c.body || reply.URL != c.url || reply.Header("Content-Encoding") != "" {
			t.Errorf("%s: got %d %q from %q, %v; want %q from %q", name, reply.Status, reply.Body, reply.URL, err, c.body, c.url)
		}
		for _, h := range w.Requests[0].Headers {
			if strings.Contains(h.Value, "s3cret") {
				t.Errorf("%s: the test is told %q", name, h.Value)
			}
		}
	}
}

func TestWhatTheHostRefusesOfAnExchangeIsRefused(t *testing.T) {
	digest := toolabi.DigestOf([]byte("kept")).String()
	secret := func(name string) []toolabi.Header {
		return []toolabi.Header{{Name: "X", Value: "{{secret:" + name + "}}"}}
	}
	fetch, send := toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend
	for name, c := range map[string]struct {
		function string
		req      toolabi.HTTPRequest
		code     toolabi.Code
		detail   string
	}{
		"a send that follows":         {send, toolabi.HTTPRequest{Redirects: 1}, toolabi.Invalid, ""},
		"too many redirects wanted":   {fetch, toolabi.HTTPRequest{Redirects: 6}, toolabi.Invalid, ""},
		"a round":                     {fetch, toolabi.HTTPRequest{URL: "https://host.test/round", Redirects: 5}, toolabi.Unavailable, "redirect"},
		"from https to http":          {fetch, toolabi.HTTPRequest{URL: "https://host.test/down", Redirects: 5}, toolabi.Denied, "redirect"},
		"a torn gzip":                 {fetch, toolabi.HTTPRequest{URL: "https://host.test/torn", Decompress: true}, toolabi.Unavailable, "encoding"},
		"packed beside a secret":      {fetch, toolabi.HTTPRequest{URL: "https://host.test/torn"}, toolabi.Unavailable, "encoding"},
		"a range of what is packed":   {fetch, toolabi.HTTPRequest{Decompress: true, Headers: []toolabi.Header{{Name: "Range", Value: "bytes=0-"}}}, toolabi.Invalid, ""},
		"a range with a secret":       {fetch, toolabi.HTTPRequest{Headers: []toolabi.Header{{Name: "Range", Value: "bytes=0-"}}}, toolabi.Invalid, ""},
		"an artifact of a head":       {fetch, toolabi.HTTPRequest{Method: "HEAD", ToArtifact: 1}, toolabi.Invalid, ""},
		"an artifact over the cap":    {fetch, toolabi.HTTPRequest{ToArtifact: toolabi.MaxArtifact + 1}, toolabi.Invalid, ""},
		"a body and an artifact":      {send, toolabi.HTTPRequest{Body: []byte("x"), BodyArtifact: digest}, toolabi.Invalid, ""},
		"no digest":                   {send, toolabi.HTTPRequest{BodyArtifact: "x"}, toolabi.Invalid, ""},
		"no such artifact":            {send, toolabi.HTTPRequest{BodyArtifact: toolabi.DigestOf(nil).String()}, toolabi.NotFound, ""},
		"longer than wanted":          {fetch, toolabi.HTTPRequest{ToArtifact: 3}, toolabi.TooLarge, "status_200"},
		"no reference":                {fetch, toolabi.HTTPRequest{Headers: secret("Not a name")}, toolabi.Invalid, "secret"},
		"a secret that is not named":  {fetch, toolabi.HTTPRequest{Headers: secret("other")}, toolabi.Denied, "secret"},
		"a secret that is not there":  {fetch, toolabi.HTTPRequest{Headers: secret("lost")}, toolabi.Denied, "secret"},
		"a secret in a body, unnamed": {send, toolabi.HTTPRequest{Body: []byte("{{secret:other}}")}, toolabi.Denied, "secret"},
	} {
		w := &World{HTTP: http.HandlerFunc(site), Secrets: map[string]string{"token": "s3cret"}, Artifacts: map[string][]byte{digest: []byte("kept")}}
		if c.req.URL == "" {
			c.req.URL = "https://host.test/said"
		}
		if c.req.Method == "" {
			c.req.Method = map[string]string{fetch: "GET", send: "PUT"}[c.function]
		}
		_, err := put[toolabi.HTTPReply](t, stageOf(t, w), c.function, c.req)
		var e *toolabi.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Detail != c.detail {
			t.Errorf("%s: got %v, want %s (%s)", name, err, c.code, c.detail)
		}
		if len(w.Artifacts) != 1 {
			t.Errorf("%s: something was kept", name)
		}
	}
}

func TestBodiesAreArtifactsWhereTheToolAsksForThat(t *testing.T) {
	digest := toolabi.DigestOf([]byte("kept")).String()
	w := &World{HTTP: http.HandlerFunc(site), Artifacts: map[string][]byte{digest: []byte("kept")}}
	reply, err := put[toolabi.HTTPReply](t, stageOf(t, w), toolabi.FuncHTTPSend,
		toolabi.HTTPRequest{Method: "PUT", URL: "https://host.test/said", BodyArtifact: digest, ToArtifact: 100})
	want := `host.test "" "" kept`
	if err != nil || reply.Body != nil || reply.Artifact != toolabi.DigestOf([]byte(want)).String() || reply.Size != uint64(len(want)) {
		t.Errorf("got %+v, %v", reply, err)
	}
	if got := string(w.Artifacts[reply.Artifact]); got != want {
		t.Errorf("the artifact is %q, want %q", got, want)
	}
	_, err = put[toolabi.HTTPReply](t, stageOf(t, &World{HTTP: http.HandlerFunc(site)}), toolabi.FuncHTTPFetch,
		toolabi.HTTPRequest{Method: "GET", URL: "https://host.test/said", ToArtifact: 100})
	if !errors.Is(err, toolabi.Denied) {
		t.Errorf("a world without artifacts: %v, want denied", err)
	}
}

func TestSecretsAndSettingsAreAsTheWorldHasThem(t *testing.T) {
	s := stageOf(t, &World{Secrets: map[string]string{"token": "s3cret"}, Config: map[string]string{"page": "7", "other": "x"}})
	for name, want := range map[string]bool{"token": true, "lost": false} {
		reply, err := put[toolabi.SecretHasReply](t, s, toolabi.FuncSecretHas, toolabi.SecretHasRequest{Name: name})
		if err != nil || reply.Has != want {
			t.Errorf("secret %s: %v, %v, want %v", name, reply.Has, err, want)
		}
	}
	value, err := put[toolabi.ConfigGetReply](t, s, toolabi.FuncConfigGet, toolabi.ConfigGetRequest{Key: "page"})
	if err != nil || !value.Found || value.Value != "7" {
		t.Errorf("page: %+v, %v", value, err)
	}
	if _, err := put[toolabi.ConfigGetReply](t, s, toolabi.FuncConfigGet, toolabi.ConfigGetRequest{Key: "other"}); !errors.Is(err, toolabi.Denied) {
		t.Errorf("a key that is not among the targets: %v, want denied", err)
	}
	if _, err := put[toolabi.SecretHasReply](t, s, toolabi.FuncSecretHas, toolabi.SecretHasRequest{Name: "No"}); !errors.Is(err, toolabi.Invalid) {
		t.Errorf("what is no name: %v, want invalid", err)
	}
}
