package hostfuncs_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/toolabi"
)

const password = "correct-horse-7"

// withLogin is a call that logs in at a server as desk.
func withLogin(server string) hostfuncs.Call {
	c := mayMail(server)
	c.Grants.Mail.User, c.Grants.Mail.Secret = "desk", "smtp"
	c.Grants.Secrets = []hostfuncs.SecretGrant{{Name: "smtp", Source: "env:SMTP", Origins: []string{server}}}
	return c
}

// vault has one password, whatever it is asked for.
func vault(value string) *hostfuncs.Vault {
	return hostfuncs.NewVault(func(context.Context, string) ([]byte, error) { return []byte(value), nil })
}

func TestLoggingIn(t *testing.T) {
	certs, roots := certificate(t)
	for name, c := range map[string]struct {
		server mailserver.Config
		url    string // "" for the server's own
		auth   string
	}{
		"on this host":           {mailserver.Config{}, "", "AUTH PLAIN"},
		"the other way":          {mailserver.Config{Ways: []string{"CRAM-MD5", "LOGIN"}}, "", "AUTH LOGIN"},
		"starttls":               {mailserver.Config{TLS: certs}, "smtp://example.com:587", ""},
		"tls":                    {mailserver.Config{TLS: certs, Implicit: true}, "smtps://example.com:465", ""},
		"tls on this host":       {mailserver.Config{TLS: certs, Implicit: true}, "", ""},
		"only under tls, though": {mailserver.Config{TLS: certs}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.User, c.server.Password = "desk", password
			s := startMail(t, c.server)
			if c.url == "" {
				c.url = s.URL()
			}
			cfg := elsewhere(s, roots)
			cfg.Secrets = vault(password)
			if _, err := sendMail(t, cfg, withLogin(c.url), hello()); err != nil {
				t.Fatal(err)
			}
			if m := s.Messages()[0]; m.User != "desk" || m.TLS != (c.server.TLS != nil) {
				t.Errorf("it came from %q, under TLS: %v", m.User, m.TLS)
			}
			if strings.Contains(strings.Join(s.Commands(), "\n")+string(s.Messages()[0].Data), password) {
				t.Error("the password is where it should not be")
			}
		})
	}
}

func TestNoPasswordAndNoMessageIsSentInTheClear(t *testing.T) {
	certs, roots := certificate(t)
	for name, c := range map[string]struct {
		server mailserver.Config
		roots  *x509.CertPool
		retry  toolabi.Retry
	}{
		"no starttls":       {mailserver.Config{User: "desk", Password: password}, roots, toolabi.RetryNever},
		"unknown authority": {mailserver.Config{TLS: certs}, x509.NewCertPool(), toolabi.RetrySafe},
		"refuses starttls":  {mailserver.Config{TLS: certs, Faults: []mailserver.Fault{{At: "STARTTLS", Reply: "454 4.7.0 not now\r\n"}}}, roots, toolabi.RetryAfter},
		"no handshake":      {mailserver.Config{TLS: certs, Faults: []mailserver.Fault{{At: "STARTTLS", Reply: "220 go\r\n", Close: true}}}, roots, toolabi.RetrySafe},
		"says more before":  {mailserver.Config{TLS: certs, Faults: []mailserver.Fault{{At: "STARTTLS", Reply: "220 go\r\n250 injected\r\n"}}}, roots, toolabi.RetrySafe},
	} {
		t.Run(name, func(t *testing.T) {
			s := startMail(t, c.server)
			cfg := elsewhere(s, c.roots)
			cfg.Secrets = vault(password)
			_, err := sendMail(t, cfg, withLogin("smtp://example.com:587"), hello())
			code := toolabi.Unavailable
			if c.retry == toolabi.RetryAfter {
				code = toolabi.Failed
			}
			if e := wantError(t, err, code, none); e.Retry != c.retry {
				t.Errorf("got %+v", e)
			}
			if got := s.Commands(); slices.Contains(got, "AUTH") || slices.ContainsFunc(got, func(c string) bool { return strings.HasPrefix(c, "MAIL") }) {
				t.Errorf("it said %q", got)
			}
		})
	}
}

func TestAServerThatRefusesALoginRepeatsNoPassword(t *testing.T) {
	s := startMail(t, mailserver.Config{User: "desk", Password: "another"})
	_, err := sendMail(t, hostfuncs.Config{Secrets: vault(password)}, withLogin(s.URL()), hello())
	e := wantError(t, err, toolabi.Failed, none)
	coded := base64.StdEncoding.EncodeToString([]byte("\x00desk\x00" + password))
	if e.Detail != "smtp_535" || e.Retry != toolabi.RetryNever || strings.Contains(e.Message, password) || strings.Contains(e.Message, coded) {
		t.Errorf("got %+v", e)
	}
}

func TestAServerThatRepeatsThePasswordLaterIsNotQuoted(t *testing.T) {
	coded := base64.StdEncoding.EncodeToString([]byte(password))
	s := startMail(t, mailserver.Config{User: "desk", Password: password, Faults: []mailserver.Fault{{At: "MAIL", Reply: "550 you are " + password + " or " + coded + "\r\n"}}})
	_, err := sendMail(t, hostfuncs.Config{Secrets: vault(password)}, withLogin(s.URL()), hello())
	if e := wantError(t, err, toolabi.Failed, none); strings.Contains(e.Message, password) || strings.Contains(e.Message, coded) || !strings.Contains(e.Message, "you are [secret:smtp]") {
		t.Errorf("got %q", e.Message)
	}
}

func TestAPasswordThatCannotBeReadIsNotMissed(t *testing.T) {
	s := startMail(t, mailserver.Config{})
	for name, v := range map[string]*hostfuncs.Vault{"no vault": nil, "NUL": vault("a\x00b"),
		"gone": hostfuncs.NewVault(func(context.Context, string) ([]byte, error) { return nil, errors.New("the file is gone") })} {
		_, err := sendMail(t, hostfuncs.Config{Secrets: v}, withLogin(s.URL()), hello())
		var e *toolabi.Error
		if !errors.As(err, &e) || e.Effect != none || len(s.Messages()) != 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAServerThatKnowsNoLoginWeCan(t *testing.T) {
	s := startMail(t, mailserver.Config{User: "desk", Password: password, Ways: []string{"CRAM-MD5"}})
	_, err := sendMail(t, hostfuncs.Config{Secrets: vault(password)}, withLogin(s.URL()), hello())
	if e := wantError(t, err, toolabi.Unavailable, none); e.Detail != "login" || e.Retry != toolabi.RetryNever {
		t.Errorf("got %+v", e)
	}
}

func TestAPasswordGoesOnlyWhereItIsBoundTo(t *testing.T) {
	s := startMail(t, mailserver.Config{User: "desk", Password: password})
	for name, change := range map[string]func(*hostfuncs.Grants){
		"not granted": func(g *hostfuncs.Grants) { g.Secrets = nil },
		"not bound":   func(g *hostfuncs.Grants) { g.Secrets[0].Origins = nil },
		"bound to http": func(g *hostfuncs.Grants) {
			g.Secrets[0].Origins = []string{strings.Replace(s.URL(), "smtp", "http", 1)}
		},
		"bound to tls": func(g *hostfuncs.Grants) {
			g.Secrets[0].Origins = []string{strings.Replace(s.URL(), "smtp", "smtps", 1)}
		},
	} {
		c := withLogin(s.URL())
		change(&c.Grants)
		_, err := sendMail(t, hostfuncs.Config{Secrets: vault(password)}, c, hello())
		if e := wantError(t, err, toolabi.Denied, none); !strings.Contains(e.Message, "(--secret smtp=") || !strings.Contains(e.Message, "@"+s.URL()+")") {
			t.Errorf("%s: got %q, want the flag", name, e.Message)
		}
		if len(s.Commands()) != 0 {
			t.Errorf("%s: the server was asked", name)
		}
	}
}

func TestWhatIsSaidInTheClearBeforeTLSIsForgotten(t *testing.T) {
	certs, roots := certificate(t)
	s := startMail(t, mailserver.Config{TLS: certs, User: "desk", Password: password})
	// Between them somebody says that the server has SMTPUTF8 and a limit, which under TLS it does not say.
	l := serveRaw(t, func(_ *rawServer, c net.Conn) {
		up, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Error(err)
			return
		}
		defer up.Close()
		in, out := bufio.NewReader(c), bufio.NewReader(up)
		relay := func(from *bufio.Reader, to io.Writer, change func(string) string) bool {
			line, err := from.ReadString('\n')
			io.WriteString(to, change(line))
			return err == nil
		}
		same := func(s string) string { return s }
		relay(out, c, same) // greeting
		relay(in, up, same) // EHLO
		for more := true; more; {
			relay(out, c, func(s string) string {
				more = strings.HasPrefix(s, "250-")
				return strings.Replace(s, "250-SIZE 0", "250-SIZE 1", 1)
			})
		}
		done := make(chan struct{})
		go func() { defer close(done); defer up.Close(); io.Copy(up, in) }()
		io.Copy(c, out)
		c.Close()
		<-done
	})
	cfg := elsewhere(s, roots)
	cfg.Secrets = vault(password)
	cfg.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(l.url, "http://"))
	}
	if _, err := sendMail(t, cfg, withLogin("smtp://example.com:587"), hello()); err != nil || len(s.Messages()) != 1 {
		t.Errorf("got %v and %d messages", err, len(s.Messages()))
	}
}

func TestTheServerOfMailIsFoundAndJudgedAsOneOfHTTP(t *testing.T) {
	for addr, detail := range map[string]string{"127.0.0.1": "address", "169.254.169.254": "address", "10.1.2.3": "address", "::ffff:10.0.0.1": "address"} {
		cfg := hostfuncs.Config{Resolver: names{"example.com": {addr}}, Dial: func(context.Context, string, string) (net.Conn, error) {
			t.Errorf("%s was dialled", addr)
			return nil, io.EOF
		}}
		_, err := sendMail(t, cfg, mayMail("smtps://example.com:465"), hello())
		if e := wantError(t, err, toolabi.Denied, none); e.Detail != detail {
			t.Errorf("%s: got %+v", addr, e)
		}
	}
	_, err := sendMail(t, hostfuncs.Config{Resolver: names{}}, mayMail("smtps://example.com:465"), hello())
	if e := wantError(t, err, toolabi.Unavailable, none); e.Detail != "dns" || e.Retry != toolabi.RetrySafe {
		t.Errorf("got %+v", e)
	}
}
