package hostfuncs

import (
	"strings"
	"testing"
)

func TestAGrantOfMailHasOneSpelling(t *testing.T) {
	for _, c := range []struct{ written, want string }{
		{"smtps://mail.example.com,from=desk@example.com", "smtps://mail.example.com:465,from=desk@example.com"},
		{"SMTPS://Mail.Example.COM,from=Desk@Example.COM", "smtps://mail.example.com:465,from=Desk@example.com"},
		{"smtp://mail.example.com:587,secret=smtp,user=desk,from=a@b", "smtp://mail.example.com:587,from=a@b,user=desk,secret=smtp"},
		{"smtp://127.0.0.1:2525,from=a@b", "smtp://127.0.0.1:2525,from=a@b"},
		{"smtp://[::1]:25,from=a@b,user=x y@z=,secret=s", "smtp://[::1]:25,from=a@b,user=x y@z=,secret=s"},
	} {
		m, err := ParseMail(c.written)
		if err != nil || m.String() != c.want {
			t.Errorf("ParseMail(%s) = %s, %v, want %s", c.written, m, err, c.want)
		}
		if again, err := ParseMail(m.String()); err != nil || again.String() != c.want {
			t.Errorf("%s is read as %s, %v", m, again, err)
		}
	}
}

func TestWhatIsNoGrantOfMail(t *testing.T) {
	for _, c := range []struct{ written, want string }{
		{"", "which server"},
		{"mail.example.com,from=a@b", "want smtp://HOST or smtps://HOST"},
		{"https://mail.example.com,from=a@b", "want smtp://HOST"},
		{"smtp://desk:pw@mail.example.com,from=a@b", "user information"},
		{"smtp://*.example.com,from=a@b", "patterns"},
		{"smtp://127.1,from=a@b", "four decimal numbers"},
		{"smtp://[::ffff:127.0.0.1],from=a@b", "write 127.0.0.1"},
		{"smtp://h:0,from=a@b", "port"},
		{"smtp://h/,from=a@b", "no path"},
		{"smtp://h", "from="},
		{"smtp://h,from=", "once"},
		{"smtp://h,from=a@b,from=a@b", "once"},
		{"smtp://h,from=Desk <a@b>", "from="},
		{"smtp://h,from=a@b,user=x", "user= and secret="},
		{"smtp://h,from=a@b,secret=x", "user= and secret="},
		{"smtp://h,from=a@b,user=x,secret=X", "no name of a secret"},
		{"smtp://h,from=a@b,user=x\r\nMAIL,secret=x", "one line"},
		{"smtp://h,from=a@b,to=c@d", "want from=, user= or secret="},
	} {
		if m, err := ParseMail(c.written); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseMail(%s) = %s, %v, want an error with %q", c.written, m, err, c.want)
		}
	}
	if _, err := ParseMail("smtp://desk:hunter2@h,from=a@b"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want an error without the password", err)
	}
}

func TestGrantsOfMailAreInTheirOnlySpelling(t *testing.T) {
	ok := MailGrant{Server: "smtps://h:465", From: "a@b", To: []string{"*", "@c.d", "é@f"}}
	if err := ok.validate(); err != nil {
		t.Error(err)
	}
	for _, m := range []MailGrant{{}, {To: []string{"@c.d"}}} {
		if err := m.validate(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for _, change := range []func(*MailGrant){
		func(m *MailGrant) { m.Server = "" },
		func(m *MailGrant) { m.Server = "smtps://h" },
		func(m *MailGrant) { m.Server = "smtps://H:465" },
		func(m *MailGrant) { m.From = "a@B" },
		func(m *MailGrant) { m.From = "" },
		func(m *MailGrant) { m.User, m.Secret = "a,b", "s" },
		func(m *MailGrant) { m.To = []string{"@C"} },
		func(m *MailGrant) { m.To = []string{"*", "*"} },
		func(m *MailGrant) { m.To = []string{"@"} },
		func(m *MailGrant) { m.To = []string{"**"} },
	} {
		m := ok
		change(&m)
		if err := m.validate(); err == nil {
			t.Errorf("%+v is taken", m)
		}
	}
}

func TestAddresses(t *testing.T) {
	for s, want := range map[string]string{
		"ann@example.com":            "ann@example.com",
		"Ann.O'Neil+x=y@Example.COM": "Ann.O'Neil+x=y@example.com",
		"jörg@xn--mller-kva.example": "jörg@xn--mller-kva.example",
		"a@localhost":                "a@localhost",
	} {
		if a, err := parseAddress(s); err != nil || a.String() != want {
			t.Errorf("parseAddress(%q) = %s, %v, want %s", s, a, err, want)
		}
	}
	for _, s := range []string{
		"", "@", "a", "a@", "@b", "a@b@c", "a b@c", " a@b", "a@b ", "a@b.", "a@.b", ".a@b", "a.@b", "a..b@c", `"a"@b`, `a"b@c`, "a(x)@b", "<a@b>", "Ann <a@b>",
		"a@[127.0.0.1]", "a@127.0.0.1", "a@1", "a@b_c", "a@müller.example", "a@b,c@d", "a,c@b", "a@b;c", "a:b@c", "a\\b@c", "@x:a@b",
		"a@b\r\nRCPT TO:<c@d>", "a\r\n@b", "a\x00@b", "a\u2028@b", "a\u00a0b@c", "a\u202e@b", "a\u200b@b", "\xff@b", "\ufffd@b",
		strings.Repeat("a", 65) + "@b", "a@" + strings.Repeat("b.", 130) + "c", "a@" + strings.Repeat("b", 64),
	} {
		if a, err := parseAddress(s); err == nil {
			t.Errorf("parseAddress(%q) = %s", s, a)
		}
	}
}

func TestWhoMayBeWrittenTo(t *testing.T) {
	for _, c := range []struct {
		list string
		to   string
		want bool
	}{
		{"", "ann@example.com", false},
		{"*", "ann@example.com", true},
		{"ann@example.com", "ann@EXAMPLE.com", true},
		{"ann@example.com", "Ann@example.com", false},
		{"ann@example.com", "ann@example.com.evil.example", false},
		{"@example.com", "bob@example.com", true},
		{"@EXAMPLE.com", "bob@example.com", true},
		{"@example.com", "bob@sub.example.com", false},
		{"@example.com", "bob@notexample.com", false},
		{"example.com", "bob@example.com", false},
		{"@a.example ann@b.example", "ann@b.example", true},
	} {
		a, err := parseAddress(c.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.among(strings.Fields(c.list)); got != c.want {
			t.Errorf("%s among [%s]: got %v, want %v", c.to, c.list, got, c.want)
		}
	}
}

func FuzzGrantsOfMail(f *testing.F) {
	f.Add("smtps://mail.example.com:465,from=desk@example.com,user=desk,secret=smtp", "@example.com")
	f.Add("smtp://[::1]:1,from=é@b", "a@b")
	f.Fuzz(func(t *testing.T, grant, to string) {
		if m, err := ParseMail(grant); err == nil {
			if again, err := ParseMail(m.String()); err != nil || again.String() != m.String() {
				t.Errorf("%q is read as %s, and that as %s, %v", grant, m, again, err)
			}
		}
		got, err := ParseMailTo(to)
		if err != nil {
			return
		}
		if again, err := ParseMailTo(got); err != nil || again != got || strings.ContainsAny(got, "\r\n\x00 <>") {
			t.Errorf("%q is read as %q, and that as %q, %v", to, got, again, err)
		}
	})
}
