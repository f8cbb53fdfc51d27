package grantfile_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/toolabi"
)

// all grants one thing of each kind, and more of some.
func all(t testing.TB) hostfuncs.Grants {
	t.Helper()
	dir, err := filepath.Abs("/srv")
	if err != nil {
		t.Fatal(err)
	}
	g := hostfuncs.Grants{
		HTTP:      []string{"POST https://api.example.com/v1/charges", "https://b.example"},
		Nets:      []string{"10.0.0.0/8", "fd00::/8"},
		Secrets:   []hostfuncs.SecretGrant{{Name: "stripe", Source: "env:STRIPE_KEY", Origins: []string{"https://api.example.com", "https://b.example"}}, {Name: "pass", Source: "cmd:pass show a b"}},
		Config:    []hostfuncs.ConfigGrant{{Module: "mailer", Key: "note", Value: "a: b # c\n\"d\" é"}, {Module: "mailer", Key: "n", Value: "null"}},
		KV:        []hostfuncs.KVGrant{{Store: "on", Write: true}, {Store: "no"}},
		Artifacts: 5 << 20,
		Workspace: hostfuncs.WorkspaceGrant{Path: filepath.Join(dir, "a b"), Write: true},
		Mail:      hostfuncs.MailGrant{Server: "smtps://mail.example.com:465", From: "desk@example.com", User: "desk", Secret: "pass", To: []string{"@example.com", "ann@example.net"}},
		Dirs:      []hostfuncs.DirGrant{{Name: "in", Path: dir}, {Name: "out", Path: filepath.Join(dir, "out:ro"), Write: true}},
	}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGrantsAreReadAsTheyAreWritten(t *testing.T) {
	for _, g := range []hostfuncs.Grants{{}, all(t), {Artifacts: 1025}, {Mail: hostfuncs.MailGrant{To: []string{"*"}}}} {
		text, err := grantfile.Format(g)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := grantfile.Parse(text); err != nil || !got.Equal(g) {
			t.Errorf("%s\nis read as %+v, %v, want %+v", text, got, err, g)
		}
		var got hostfuncs.Grants
		for _, w := range grantfile.Words(g) {
			if got, err = grantfile.With(got, w); err != nil {
				t.Errorf("--%s %s: %v", w.Flag, w.Value, err)
			}
		}
		if !got.Equal(g) {
			t.Errorf("as flags %+v, want %+v", got, g)
		}
	}
}

func TestARecordIsReadAsItIsWritten(t *testing.T) {
	rec := grantfile.Record{
		Name: "no", Version: "1.0.0-rc.1", Digest: toolabi.DigestOf([]byte("x")), File: "/a b/\u202e'#.wasm",
		Added: time.Date(2026, 1, 31, 12, 0, 1, 0, time.UTC), Grants: all(t),
	}
	text, err := grantfile.FormatRecord(rec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := grantfile.ParseRecord(text)
	if err != nil || !got.Grants.Equal(rec.Grants) || !got.Added.Equal(rec.Added) {
		t.Fatalf("%s\nis read as %+v, %v", text, got, err)
	}
	if got.Name != rec.Name || got.Version != rec.Version || got.Digest != rec.Digest || got.File != rec.File {
		t.Errorf("got %+v, want %+v", got, rec)
	}
}

func TestAMistakeIsNamedWithItsLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "line 1: the grants file is empty"},
		{"unknown", "allow-htpp: []", `line 1, column 1: unknown field "allow-htpp"; did you mean "allow-http"?`},
		{"in capitals", "Secret: []", `line 1, column 1: unknown field "Secret"; did you mean "secret"?`},
		{"twice", "set: []\nset: []", `line 2, column 1: the key "set" is there twice; the first is on line 1`},
		{"alias", "allow-http: &a [https://a.example]\nallow-net: *a", "anchors are not allowed"},
		{"merge key", "<<: {}", "merge keys are not allowed"},
		{"tag", "set: !!python/object [a]", "tags are not allowed"},
		{"two documents", "set: []\n---\nset: []", "a grants file is one document"},
		{"a list", "- set", "a grants file has to be a mapping, this is a list"},
		{"not a list", "allow-http: https://a.example", `"allow-http" has to be a list, this is "https://a.example"`},
		{"a list of one thing", "workspace: [/a]", `"workspace" has to be a string, this is a list`},
		{"a number", "allow-kv: [7]", `"allow-kv" has to be a string, this is the number 7`},
		{"Norway", "allow-kv: [no, yes]\nallow-artifacts: yes", "line 2, column 18: allow-artifacts: want a size in bytes"},
		{"no size", "allow-artifacts: -1", "want a size"},
		{"a fraction", "allow-artifacts: 1.5", `"allow-artifacts" has to be a string, this is the number 1.5`},
		{"a pattern", "allow-http:\n  - https://*.example", "line 2, column 5: allow-http: origin"},
		{"IDN", "allow-http: [https://exämple.com]", "xn-- form"},
		{"a trailing dot", "allow-http: [https://EXAMPLE.com.]", "is not a label"},
		{"octal", "allow-http: [http://0177.0.0.1]", "four decimal numbers"},
		{"port 0", "allow-http: [http://a.example:0]", "port"},
		{"scheme", "allow-http: [file:///etc]", "want http://HOST"},
		{"a value in place of a source", "secret: [a=hunter2@https://a.example]", "want env:VARIABLE"},
		{"two sources", "secret: [a=env:A, a=env:B]", "line 1, column 19: secret: secret a is granted as env:A and as env:B"},
		{"two values", "set: [a.b=1, a.b=2]", "setting a.b is granted as"},
		{"relative dir", "dir: [in=here]", `dir: the path "here" has to be absolute`},
		{"relative workspace", "workspace: ../here", `workspace: the path "../here" has to be absolute`},
		{"relative file", "secret: [a=file:key@https://a.example]", "has to be absolute"},
		{"tab", "set:\n\t- a.b=1", "indented with a tab"},
		{"BOM and UTF-16", "\xff\xfes\x00", "this is not UTF-8"},
		{"too long", strings.Repeat("#", grantfile.MaxBytes+1), "at most 1048576 are allowed"},
		{"too many", "allow-kv:\n" + strings.Repeat("  - a\n", hostfuncs.MaxGrants+1), "has 1001 entries, at most 1000 are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := grantfile.Parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !g.IsZero() {
				t.Errorf("got %+v, %v, want %q", g, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the value of a secret is shown: %v", err)
			}
		})
	}
}

func TestARecordWithAMistakeIsRefused(t *testing.T) {
	good := "name: a\nversion: 1.0.0\ndigest: " + strings.Repeat("0a", 32) + "\nfile: f\nadded: 2026-01-31T12:00:00Z\ngrants: {}\n"
	if _, err := grantfile.ParseRecord([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		`"grants" is missing`:                strings.Replace(good, "grants: {}\n", "", 1),
		`"version" is missing`:               strings.Replace(good, "version: 1.0.0\n", "", 1),
		"64 lower-case hexadecimal digits":   strings.Replace(good, "0a", "0A", 1),
		"is no name of a module":             strings.Replace(good, "name: a", "name: ../a", 1),
		"a time such as":                     strings.Replace(good, "2026-01-31", "2026-02-31", 1),
		`unknown field "grant"`:              good + "grant: {}\n",
		`unknown field "allow-all"`:          strings.Replace(good, "{}", "{allow-all: []}", 1),
		"has to be a string, this is a list": strings.Replace(good, "file: f", "file: [f]", 1),
	} {
		if _, err := grantfile.ParseRecord([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %q", text, err, want)
		}
	}
}

// What is read grants something valid, and is written and read as the same.
func FuzzParse(f *testing.F) {
	text, err := grantfile.Format(all(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, s := range []string{"set: [a.b=c]", "allow-artifacts: 7", "{}", "<<: {}", "mail-to: ['*', \"@a\"]", "secret:\n- a=cmd:x\ty", "&a [*a]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := grantfile.Parse(text)
		if err != nil {
			return
		}
		if err := g.Validate(); err != nil {
			t.Fatalf("%q grants what is not valid: %v", text, err)
		}
		written, err := grantfile.Format(g)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := grantfile.Parse(written); err != nil || !again.Equal(g) {
			t.Fatalf("%q is %+v, written %q and read as %+v, %v", text, g, written, again, err)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte("name: a\nversion: 1.0.0\ndigest: " + strings.Repeat("0a", 32) + "\nfile: f\nadded: 2026-01-31T12:00:00Z\ngrants: {}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rec, err := grantfile.ParseRecord(text)
		if err == nil && (!toolabi.IsModuleName(rec.Name) || rec.Grants.Validate() != nil) {
			t.Fatalf("%q is %+v", text, rec)
		}
	})
}
