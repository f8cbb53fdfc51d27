package hostfuncs_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
)

func TestSecretsAreGrantedAsWritten(t *testing.T) {
	here, err := filepath.Abs("key")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want, why string }{
		{text: "stripe=env:STRIPE_KEY@https://api.stripe.com"},
		{text: "stripe=env:STRIPE_KEY"},
		{text: "a=env:A@https://a.example,http://b.example:81"},
		{text: "a=env:A@HTTPS://A.example:443,https://a.example", want: "a=env:A@https://a.example"},
		{text: "a=env:A@smtps://mail.example.com:465"},
		{text: "a=env:A@smtp://Mail.example.com:25", want: "a=env:A@smtp://mail.example.com:25"},
		{text: "a=env:A@smtp://mail.example.com:80"},
		{text: "a=file:key@https://a.example", want: "a=file:" + here + "@https://a.example"},
		{text: "a=file:" + here + "/../key", want: "a=file:" + here},
		{text: "a=file:" + filepath.Dir(here) + "/x@y/z"},
		{text: "a=cmd:pass  show\tkey@https://a.example", want: "a=cmd:pass show key@https://a.example"},
		{text: "a=cmd:get http://x@http://y@https://a.example"},
		{text: "a=cmd:pass show me@home"},
		{text: "hunter2hunter2", why: "want NAME=SOURCE@ORIGIN"},
		{text: "A=env:A", why: "lower-case"},
		{text: "=env:A", why: "lower-case"},
		{text: "a=hunter2hunter2", why: "the value itself is never written down"},
		{text: "a=", why: "want env:VARIABLE"},
		{text: "a=env:", why: "letters, digits and underscores"},
		{text: "a=env:A B", why: "letters, digits and underscores"},
		{text: "a=env:A@api.example", why: "no origin"},
		{text: "a=file:/key@api.example", why: "no origin"},
		{text: "a=env:A@https://", why: "want a host"},
		{text: "a=env:A@https://a.example/", why: "no path"},
		{text: "a=env:A@https://a.example,", why: "want http://HOST"},
		{text: "a=env:A@https://*.example", why: "patterns"},
		{text: "a=env:A@smtp://mail.example.com", why: "port is missing"},
		{text: "a=env:A@smtp://[::1]", why: "port is missing"},
		{text: "a=env:A@smtp://u@h:25", why: "want smtp://HOST:PORT"},
		{text: "a=file:", why: "which file"},
		{text: "a=cmd: ", why: "which program"},
		{text: "a=cmd:./x", why: "found on the PATH"},
		{text: "a=cmd:x\x00y", why: "control characters"},
		{text: "a=cmd:\xff", why: "no text"},
		{text: "a=cmd:" + strings.Repeat("x", 5000), why: "at most 4096"},
	} {
		got, err := hostfuncs.ParseSecret(c.text)
		if c.why != "" {
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%.60q: got %+v, %v, want it refused with %q", c.text, got, err, c.why)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%.60q: the error quotes what may be a value: %v", c.text, err)
			}
			continue
		}
		want := c.want
		if want == "" {
			want = c.text
		}
		if err != nil || got.String() != want {
			t.Errorf("%.60q: got %q, %v, want %q", c.text, got, err, want)
		}
		if again, err := hostfuncs.ParseSecret(got.String()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%q is read back as %+v, %v", got, again, err)
		}
		if err := (hostfuncs.Grants{Secrets: []hostfuncs.SecretGrant{got}}).Validate(); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	}
}

func TestGrantsOfSecretsAreJudged(t *testing.T) {
	secret := func(name, source string, origins ...string) hostfuncs.SecretGrant {
		return hostfuncs.SecretGrant{Name: name, Source: source, Origins: origins}
	}
	for _, c := range []struct {
		secrets []hostfuncs.SecretGrant
		why     string
	}{
		{[]hostfuncs.SecretGrant{secret("a", "env:A", "https://a.example"), secret("b", "env:A")}, ""},
		{[]hostfuncs.SecretGrant{secret("a", "env:A"), secret("a", "env:A")}, ""},
		{[]hostfuncs.SecretGrant{secret("a", "env:A"), secret("a", "env:B")}, "granted as env:A and as env:B"},
		{[]hostfuncs.SecretGrant{secret("a", "env:A"), secret("a", "env:A", "https://a.example")}, "granted twice"},
		{[]hostfuncs.SecretGrant{secret("A", "env:A")}, "lower-case"},
		{[]hostfuncs.SecretGrant{secret("a", "A")}, "want env:VARIABLE"},
		{[]hostfuncs.SecretGrant{secret("a", "file:key")}, "write it as"},
		{[]hostfuncs.SecretGrant{secret("a", "cmd:x  y")}, "write it as"},
		{[]hostfuncs.SecretGrant{secret("a", "cmd:get x@https://b.example")}, "reads as if"},
		{[]hostfuncs.SecretGrant{secret("a", "env:A", "https://A.example")}, "write it as https://a.example"},
		{[]hostfuncs.SecretGrant{secret("a", "env:A", "https://a.example", "https://a.example")}, "twice"},
		{[]hostfuncs.SecretGrant{secret("a", "env:A", strings.Split(strings.Repeat("https://a.example,", 33), ",")...)}, "at most 32"},
	} {
		err := hostfuncs.Grants{Secrets: c.secrets}.Validate()
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v: got %v, want %q", c.secrets, err, c.why)
		}
	}
}

func TestASecretKeepsItsSource(t *testing.T) {
	a := hostfuncs.Grants{Secrets: []hostfuncs.SecretGrant{{Name: "a", Source: "env:A"}}}
	b := hostfuncs.Grants{Secrets: []hostfuncs.SecretGrant{{Name: "a", Source: "env:B"}}}
	var conflict *hostfuncs.GrantConflictError
	if err := a.Conflict(b); !errors.As(err, &conflict) || conflict.Has != "env:A" || conflict.Wants != "env:B" {
		t.Errorf("got %v", err)
	}
	if err := a.Conflict(a); err != nil {
		t.Errorf("got %v", err)
	}
}

func FuzzParseSecret(f *testing.F) {
	for _, s := range []string{"a=env:A@https://a.example,smtp://b:25", "a=file:/k", "a=cmd:x y@http://z@https://a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := hostfuncs.ParseSecret(s)
		if err != nil {
			return
		}
		if again, err := hostfuncs.ParseSecret(g.String()); err != nil || !reflect.DeepEqual(again, g) {
			t.Errorf("%q is read as %q and then as %q, %v", s, g, again, err)
		}
	})
}
