package hostfuncs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/toolabi"
)

// startMail starts a mail server that ends with the test.
func startMail(t testing.TB, cfg mailserver.Config) *mailserver.Server {
	t.Helper()
	s, err := mailserver.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// mayMail is a call that may write to everybody from desk@example.com.
func mayMail(url string) hostfuncs.Call {
	return hostfuncs.Call{
		Key: "wrun-0123456789abcdef0123456789abcdef", Began: time.Unix(1e9, 0),
		Grants: hostfuncs.Grants{Mail: hostfuncs.MailGrant{Server: url, From: "desk@example.com", To: []string{"*"}}},
	}
}

func sendMail(t testing.TB, cfg hostfuncs.Config, c hostfuncs.Call, req toolabi.MailSendRequest) (toolabi.MailSendReply, error) {
	t.Helper()
	return use[toolabi.MailSendRequest, toolabi.MailSendReply](context.Background(), cfg, toolabi.FuncMailSend, c, req)
}

// hello is a small message.
func hello() toolabi.MailSendRequest {
	return toolabi.MailSendRequest{To: []string{"ann@example.com"}, Subject: "Hello", Text: "Good morning\n"}
}

// certificate is one for example.com and 127.0.0.1, and who vouches for it.
func certificate(t testing.TB) (*tls.Config, *x509.CertPool) {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return &tls.Config{Certificates: srv.TLS.Certificates}, pool
}

// elsewhere finds example.com at a public address, and a server of this host there.
func elsewhere(s *mailserver.Server, roots *x509.CertPool) hostfuncs.Config {
	return hostfuncs.Config{RootCAs: roots, Resolver: names{"example.com": {"1.1.1.1"}},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.Addr())
		}}
}

// got is a message as a mail program reads it.
type got struct {
	header      mail.Header
	subject     string
	text, html  string
	names       []string
	types       []string
	attachments [][]byte
}

// readMail reads a message the way mail programs do, with nothing of ours.
func readMail(t testing.TB, data []byte) got {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("read the message: %v", err)
	}
	g := got{header: m.Header}
	if g.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	g.part(t, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), "", m.Body)
	return g
}

func (g *got) part(t testing.TB, kind, encoding, disposition string, body io.Reader) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	switch encoding {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	if strings.HasPrefix(kind, "multipart/") {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			g.part(t, p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p.Header.Get("Content-Disposition"), p)
		}
	}
	b, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	_, where, _ := mime.ParseMediaType(disposition)
	switch {
	case disposition != "":
		g.names, g.types, g.attachments = append(g.names, where["filename"]), append(g.types, kind), append(g.attachments, b)
	case kind == "text/plain":
		g.text = strings.ReplaceAll(string(b), "\r\n", "\n")
	case kind == "text/html":
		g.html = strings.ReplaceAll(string(b), "\r\n", "\n")
	default:
		t.Errorf("a part of type %s", kind)
	}
}

// folder keeps artifacts for a test.
type folder map[toolabi.Digest][]byte

func (s folder) put(b []byte) string {
	d := toolabi.Digest(sha256.Sum256(b))
	s[d] = b
	return d.String()
}

func (s folder) Put(context.Context, io.Reader) (toolabi.Digest, int64, error) {
	return toolabi.Digest{}, 0, toolabi.NewError(toolabi.Internal, "not here")
}

func (s folder) Open(_ context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	b, ok := s[d]
	if !ok {
		return nil, 0, toolabi.NewError(toolabi.NotFound, "the run has no such artifact")
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

func (s folder) Usage(context.Context) (int, uint64, error) { return len(s), 0, nil }
