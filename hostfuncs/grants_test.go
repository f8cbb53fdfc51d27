package hostfuncs_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// abs is a path that is absolute on every system.
func abs(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatCanBeOnlyOneThingIsNotGrantedAsTwo(t *testing.T) {
	type g = hostfuncs.Grants
	secret := func(source string, origins ...string) g {
		return g{Secrets: []hostfuncs.SecretGrant{{Name: "api", Source: source, Origins: origins}}}
	}
	setting := func(value string) g {
		return g{Config: []hostfuncs.ConfigGrant{{Module: "mailer", Key: "sender", Value: value}}}
	}
	mail := func(server string, to ...string) g {
		return g{Mail: hostfuncs.MailGrant{Server: server, From: "ann@example.com", To: to}}
	}
	workspace := func(path string, write bool) g {
		return g{Workspace: hostfuncs.WorkspaceGrant{Path: path, Write: write}}
	}
	for _, c := range []struct {
		name string
		a, b g
		want string // "" for none
	}{
		{"another source", secret("env:A"), secret("env:B"), "secret api is granted as env:A and as env:B"},
		{"more origins", secret("env:A", "https://a.example"), secret("env:A", "https://b.example"), ""},
		{"another value", setting("a"), setting("b\n"), `setting mailer.sender is granted as "a" and as "b\n"`},
		{"the same value", setting("a"), setting("a"), ""},
		{"another workspace", workspace("/a", true), workspace("/b", true), "workspace is granted as /a and as /b"},
		{"the same workspace to write", workspace("/a", false), workspace("/a", true), ""},
		{"another account", mail("smtps://a.example:465"), mail("smtps://b.example:465"), "mail account is granted as smtps://a.example:465 from ann@example.com and as smtps://b.example:465 from ann@example.com"},
		{"more recipients", mail("smtps://a.example:465", "@a.example"), mail("smtps://a.example:465", "*"), ""},
		{"only recipients", mail("smtps://a.example:465"), g{Mail: hostfuncs.MailGrant{To: []string{"*"}}}, ""},
	} {
		for _, pair := range [][2]g{{c.a, c.b}, {g{}, c.a}, {c.a, g{}}, {c.a, c.a}} {
			want := c.want
			if !pair[0].Equal(c.a) || !pair[1].Equal(c.b) {
				want = ""
			}
			err := pair[0].Conflict(pair[1])
			var conflict *hostfuncs.GrantConflictError
			if fmt.Sprint(err) != want && (err != nil || want != "") || err != nil && !errors.As(err, &conflict) {
				t.Errorf("%s: got %v, want %q", c.name, err, want)
			}
		}
	}
}

func TestRecipientsAloneJoinTheMailAccount(t *testing.T) {
	account := hostfuncs.Grants{Mail: hostfuncs.MailGrant{Server: "smtps://a.example:465", From: "ann@example.com", To: []string{"@a.example"}}}
	more := hostfuncs.Grants{Mail: hostfuncs.MailGrant{To: []string{"bob@example.com"}}}
	want := account
	want.Mail.To = []string{"@a.example", "bob@example.com"}
	if got := account.Union(more); !got.Equal(want) {
		t.Errorf("got %+v, want %+v", got.Mail, want.Mail)
	}
	want.Mail.To = []string{"bob@example.com", "@a.example"}
	if got := more.Union(account); !got.Equal(want) {
		t.Errorf("the other way round: got %+v, want %+v", got.Mail, want.Mail)
	}
}

func TestGrantsAreValidOnlyInTheirOneSpelling(t *testing.T) {
	many := make([]hostfuncs.KVGrant, hostfuncs.MaxGrants+1)
	for i := range many {
		many[i].Store = fmt.Sprintf("s%d", i)
	}
	if err := (hostfuncs.Grants{KV: many[1:]}).Validate(); err != nil {
		t.Errorf("%d stores: %v", hostfuncs.MaxGrants, err)
	}
	for want, g := range map[string]hostfuncs.Grants{
		"1001 grants of a kind":          {KV: many},
		`write it as https://a.example`:  {HTTP: []string{"https://A.example"}},
		"patterns are not allowed":       {HTTP: []string{"https://*.example"}},
		`grant of store "A"`:             {KV: []hostfuncs.KVGrant{{Store: "A"}}},
		"store a is granted twice":       {KV: []hostfuncs.KVGrant{{Store: "a"}, {Store: "a", Write: true}}},
		"which directory?":               {Workspace: hostfuncs.WorkspaceGrant{Write: true}},
		`grant of workspace "here"`:      {Workspace: hostfuncs.WorkspaceGrant{Path: "here"}},
		`grant of directory "In=`:        {Dirs: []hostfuncs.DirGrant{{Name: "In", Path: abs(t, "/a")}}},
		"directory in is granted as":     {Dirs: []hostfuncs.DirGrant{{Name: "in", Path: abs(t, "/a")}, {Name: "in", Path: abs(t, "/b")}}},
		`an absolute, clean path`:        {Workspace: hostfuncs.WorkspaceGrant{Path: abs(t, "/a") + "/.."}},
		`grant of directory "in=/a/../b`: {Dirs: []hostfuncs.DirGrant{{Name: "in", Path: "/a/../b"}}},
	} {
		if err := g.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestStoresWorkspacesAndSizesAreReadAsTheyAreWritten(t *testing.T) {
	here := abs(t, "here")
	for text, want := range map[string]hostfuncs.KVGrant{"counters": {Store: "counters", Write: true}, "a-b:ro": {Store: "a-b"}} {
		if got, err := hostfuncs.ParseKV(text); err != nil || got != want || got.String() != text {
			t.Errorf("store %q is %+v, %v, and written %s", text, got, err, got)
		}
	}
	for text, want := range map[string]hostfuncs.WorkspaceGrant{
		"here": {Path: here, Write: true}, "here:rw": {Path: here, Write: true}, "./x/../here:ro": {Path: here}, "here:ro:ro": {Path: here + ":ro"},
	} {
		got, err := hostfuncs.ParseWorkspace(text)
		if again, _ := hostfuncs.ParseWorkspace(got.String()); err != nil || got != want || again != want {
			t.Errorf("workspace %q is %+v, %v, and again %+v", text, got, err, again)
		}
	}
	for text, want := range map[string]uint64{"1": 1, "1KiB": 1 << 10, "1536KiB": 1536 << 10, "3GiB": 3 << 30, "1025": 1025} {
		if got, err := hostfuncs.ParseSize(text); err != nil || got != want || hostfuncs.FormatSize(got) != text {
			t.Errorf("size %q is %d, %v, and written %s", text, got, err, hostfuncs.FormatSize(got))
		}
	}
	for _, bad := range []string{"", "A", "a b", "../a", "a:rw", ":ro", "a\x00", strings.Repeat("a", 65), "con ", "a."} {
		if got, err := hostfuncs.ParseKV(bad); err == nil {
			t.Errorf("store %q is %+v", bad, got)
		}
	}
	for _, bad := range []string{"", ":ro", "a\x00b", "\xff", strings.Repeat("a", 4097)} {
		if got, err := hostfuncs.ParseWorkspace(bad); err == nil {
			t.Errorf("workspace %q is %+v", bad, got)
		}
	}
	for _, bad := range []string{"", "0", "-1", "1e400", "10 GiB", "1gib", "8589934592GiB", "4611686018427387905", "9223372036854775808", "0x10", "1.5GiB"} {
		if got, err := hostfuncs.ParseSize(bad); err == nil {
			t.Errorf("size %q is %d", bad, got)
		}
	}
}
