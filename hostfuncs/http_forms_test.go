package hostfuncs_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// form is one way to reach what may not be reached, or to say more than a request may, and what it is refused as.
type form struct {
	name   string
	url    string   // "" means http://shop.example/
	method string   // "" means POST
	header []string // name and value
	leads  string   // the addresses that shop.example has, with commas; "" means a public one
	code   toolabi.Code
	detail string
}

var forms = []form{
	// Addresses written otherwise.
	{name: "IPv4 in decimal", url: "http://2130706433/", code: toolabi.Invalid},
	{name: "IPv4 in octal", url: "http://0177.0.0.1/", code: toolabi.Invalid},
	{name: "IPv4 in one octal number", url: "http://017700000001/", code: toolabi.Invalid},
	{name: "IPv4 in hexadecimal", url: "http://0x7f000001/", code: toolabi.Invalid},
	{name: "IPv4 in hexadecimal parts", url: "http://0x7f.0x0.0x0.0x1/", code: toolabi.Invalid},
	{name: "IPv4 in mixed parts", url: "http://0x7f.1/", code: toolabi.Invalid},
	{name: "IPv4 in two parts", url: "http://127.1/", code: toolabi.Invalid},
	{name: "IPv4 in three parts", url: "http://127.0.1/", code: toolabi.Invalid},
	{name: "IPv4 with leading zeros", url: "http://127.000.000.001/", code: toolabi.Invalid},
	{name: "IPv4 over 255", url: "http://127.0.0.257/", code: toolabi.Invalid},
	{name: "IPv4 that overflows", url: "http://4294967297/", code: toolabi.Invalid},
	{name: "IPv4 in percent", url: "http://%31%32%37.0.0.1/", code: toolabi.Invalid},
	{name: "IPv4 in circled digits", url: "http://①②⑦.⓪.⓪.①/", code: toolabi.Invalid},
	{name: "IPv4 with ideographic full stops", url: "http://127。0。0。1/", code: toolabi.Invalid},
	{name: "IPv4 with a trailing dot", url: "http://127.0.0.1./", code: toolabi.Invalid},
	{name: "zero", url: "http://0/", code: toolabi.Invalid},
	{name: "loopback that another grant has not", url: "http://127.0.0.2/", code: toolabi.Denied},
	{name: "the unspecified address", url: "http://0.0.0.0/", code: toolabi.Denied},
	{name: "IPv6 loopback", url: "http://[::1]/", code: toolabi.Denied},
	{name: "IPv6 unspecified", url: "http://[::]/", code: toolabi.Denied},
	{name: "IPv6 mapped", url: "http://[::ffff:127.0.0.1]/", code: toolabi.Invalid},
	{name: "IPv6 mapped in hexadecimal", url: "http://[::ffff:7f00:1]/", code: toolabi.Invalid},
	{name: "IPv6 compatible", url: "http://[::127.0.0.1]/", code: toolabi.Denied},
	{name: "IPv6 with a zone", url: "http://[fe80::1%25eth0]/", code: toolabi.Invalid},
	{name: "IPv6 with a bare zone", url: "http://[fe80::1%eth0]/", code: toolabi.Invalid},
	{name: "IPv6 without brackets", url: "http://::1/", code: toolabi.Invalid},
	{name: "IPv4 in brackets", url: "http://[127.0.0.1]/", code: toolabi.Invalid},
	{name: "IPvFuture", url: "http://[v1.127.0.0.1]/", code: toolabi.Invalid},

	// Names that lead where they may not.
	{name: "a name for loopback", leads: "127.0.0.1", code: toolabi.Denied, detail: "address"},
	{name: "a name for a private address", leads: "192.168.1.1", code: toolabi.Denied, detail: "address"},
	{name: "a name for link-local", leads: "169.254.0.1", code: toolabi.Denied, detail: "address"},
	{name: "a name for the metadata service", leads: "169.254.169.254", code: toolabi.Denied, detail: "address"},
	{name: "a name for the metadata service in IPv6", leads: "fd00:ec2::254", code: toolabi.Denied, detail: "address"},
	{name: "a name for another metadata service", leads: "100.100.100.200", code: toolabi.Denied, detail: "address"},
	{name: "a name for carrier-grade NAT", leads: "100.64.0.1", code: toolabi.Denied, detail: "address"},
	{name: "a name for a ULA", leads: "fd12:3456::1", code: toolabi.Denied, detail: "address"},
	{name: "a name for 0.0.0.0", leads: "0.0.0.0", code: toolabi.Denied, detail: "address"},
	{name: "a name for broadcast", leads: "255.255.255.255", code: toolabi.Denied, detail: "address"},
	{name: "a name for multicast", leads: "239.1.1.1", code: toolabi.Denied, detail: "address"},
	{name: "a name for a mapped address", leads: "::ffff:127.0.0.1", code: toolabi.Denied, detail: "address"},
	{name: "a name for a compatible address", leads: "::7f00:1", code: toolabi.Denied, detail: "address"},
	{name: "a name for NAT64", leads: "64:ff9b::7f00:1", code: toolabi.Denied, detail: "address"},
	{name: "a name for local NAT64", leads: "64:ff9b:1::7f00:1", code: toolabi.Denied, detail: "address"},
	{name: "a name for 6to4", leads: "2002:7f00:1::", code: toolabi.Denied, detail: "address"},
	{name: "a name for Teredo's client", leads: "2001:0:808:808::80ff:fffe", code: toolabi.Denied, detail: "address"},
	{name: "a name for Teredo's server", leads: "2001:0:7f00:1::f7f7:f7f7", code: toolabi.Denied, detail: "address"},
	{name: "a name for ISATAP", leads: "2606:4700::5efe:7f00:1", code: toolabi.Denied, detail: "address"},
	{name: "a name for an address with a zone", leads: "fe80::1%lo", code: toolabi.Denied, detail: "address"},
	{name: "a name for public and loopback", leads: "93.184.215.14,127.0.0.1", code: toolabi.Denied, detail: "address"},
	{name: "a name for nothing", leads: "-", code: toolabi.Unavailable, detail: "dns"},

	// Names that are others.
	{name: "a trailing dot", url: "http://shop.example./", code: toolabi.Invalid},
	{name: "two dots", url: "http://shop..example/", code: toolabi.Invalid},
	{name: "letters beyond ASCII", url: "http://bücher.example/", code: toolabi.Invalid},
	{name: "a homograph", url: "http://shоp.example/", code: toolabi.Invalid},
	{name: "fullwidth letters", url: "http://ｓｈｏｐ.example/", code: toolabi.Invalid},
	{name: "a soft hyphen", url: "http://sh\u00adop.example/", code: toolabi.Invalid},
	{name: "the xn-- form that is not granted", url: "http://xn--shp-wmc.example/", code: toolabi.Denied},
	{name: "a longer name", url: "http://shop.example.evil.example/", code: toolabi.Denied},
	{name: "a name below", url: "http://x.shop.example/", code: toolabi.Denied},
	{name: "a name above", url: "http://example/", code: toolabi.Denied},
	{name: "user information", url: "http://user@shop.example/", code: toolabi.Invalid},
	{name: "a host behind user information", url: "http://shop.example@127.0.0.1/", code: toolabi.Invalid},
	{name: "a password", url: "http://shop.example:80@127.0.0.1/", code: toolabi.Invalid},
	{name: "a backslash", url: `http://shop.example\@127.0.0.1/`, code: toolabi.Invalid},
	{name: "a fragment", url: "http://shop.example#@127.0.0.1/", code: toolabi.Invalid},
	{name: "port 0", url: "http://shop.example:0/", code: toolabi.Invalid},
	{name: "port 65536", url: "http://shop.example:65536/", code: toolabi.Invalid},
	{name: "port 65616, which is 80 in 16 bits", url: "http://shop.example:65616/", code: toolabi.Invalid},
	{name: "a port that is not granted", url: "http://shop.example:22/", code: toolabi.Denied},
	{name: "two ports", url: "http://shop.example:80:22/", code: toolabi.Invalid},
	{name: "the scheme file", url: "file:///etc/passwd", code: toolabi.Invalid},
	{name: "the scheme gopher", url: "gopher://shop.example/", code: toolabi.Invalid},
	{name: "the scheme unix", url: "unix:///run/x.sock", code: toolabi.Invalid},
	{name: "the scheme ftp", url: "ftp://shop.example/", code: toolabi.Invalid},
	{name: "no scheme", url: "//shop.example/", code: toolabi.Invalid},
	{name: "a blank before", url: " http://shop.example/", code: toolabi.Invalid},

	// What breaks out of the request line.
	{name: "CRLF in the path", url: "http://shop.example/\r\nX: y", code: toolabi.Invalid},
	{name: "LF in the path", url: "http://shop.example/\nX: y", code: toolabi.Invalid},
	{name: "a blank in the path", url: "http://shop.example/ HTTP/1.1", code: toolabi.Invalid},
	{name: "CRLF in the host", url: "http://shop.example\r\nX: y/", code: toolabi.Invalid},
	{name: "NUL in the host", url: "http://shop.example\x00.evil.example/", code: toolabi.Invalid},
	{name: "CRLF in the method", method: "POST / HTTP/1.1\r\nX: y\r\n\r\nPOST", code: toolabi.Invalid},
	{name: "a blank in the method", method: "POST /admin", code: toolabi.Invalid},
	{name: "CONNECT", method: "CONNECT", code: toolabi.Invalid},
	{name: "TRACE", method: "TRACE", code: toolabi.Invalid},
	{name: "the preface of HTTP/2", method: "PRI", code: toolabi.Invalid},
	{name: "a secret in the URL", url: "http://shop.example/?key={{secret:token}}", code: toolabi.Invalid},

	// Headers that are the host's, or more than one.
	{name: "CRLF in a header's name", header: []string{"X\r\nY", "v"}, code: toolabi.Invalid},
	{name: "CRLF in a header's value", header: []string{"X", "v\r\nY: w"}, code: toolabi.Invalid},
	{name: "LF in a header's value", header: []string{"X", "v\nY: w"}, code: toolabi.Invalid},
	{name: "CR in a header's value", header: []string{"X", "v\rY: w"}, code: toolabi.Invalid},
	{name: "NUL in a header's value", header: []string{"X", "v\x00"}, code: toolabi.Invalid},
	{name: "a colon in a header's name", header: []string{"X:", "v"}, code: toolabi.Invalid},
	{name: "a blank in a header's name", header: []string{"X ", "v"}, code: toolabi.Invalid},
	{name: "Host", header: []string{"Host", "127.0.0.1"}, code: toolabi.Invalid},
	{name: "host in small letters", header: []string{"host", "127.0.0.1"}, code: toolabi.Invalid},
	{name: "Proxy-Authorization", header: []string{"Proxy-Authorization", "x"}, code: toolabi.Invalid},
	{name: "Proxy-Connection", header: []string{"Proxy-Connection", "keep-alive"}, code: toolabi.Invalid},
	{name: "Proxy-Whatever", header: []string{"Proxy-Whatever", "x"}, code: toolabi.Invalid},
	{name: "Transfer-Encoding", header: []string{"Transfer-Encoding", "chunked"}, code: toolabi.Invalid},
	{name: "Transfer_Encoding", header: []string{"Transfer_Encoding", "chunked"}, code: toolabi.Invalid},
	{name: "Content-Length", header: []string{"Content-Length", "0"}, code: toolabi.Invalid},
	{name: "Content_Length", header: []string{"content_length", "0"}, code: toolabi.Invalid},
	{name: "Connection", header: []string{"Connection", "keep-alive"}, code: toolabi.Invalid},
	{name: "Keep-Alive", header: []string{"Keep-Alive", "timeout=5"}, code: toolabi.Invalid},
	{name: "Upgrade", header: []string{"Upgrade", "h2c"}, code: toolabi.Invalid},
	{name: "HTTP2-Settings", header: []string{"HTTP2-Settings", "x"}, code: toolabi.Invalid},
	{name: "Expect", header: []string{"Expect", "100-continue"}, code: toolabi.Invalid},
	{name: "TE", header: []string{"TE", "trailers"}, code: toolabi.Invalid},
	{name: "Trailer", header: []string{"Trailer", "X"}, code: toolabi.Invalid},
	{name: "Idempotency-Key", header: []string{"Idempotency-Key", "x"}, code: toolabi.Invalid},
	{name: "Idempotency_Key", header: []string{"IDEMPOTENCY_KEY", "x"}, code: toolabi.Invalid},
}

// Redirects have the same table in TestRedirectsThatAreRefused.
func TestFormsOfWhatMayNotBeReachedOrSaid(t *testing.T) {
	if len(forms) < 40 {
		t.Fatalf("only %d forms", len(forms))
	}
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			leads := "93.184.215.14"
			if f.leads != "" {
				leads = f.leads
			}
			cfg := noNetwork(t)
			if leads != "-" {
				cfg.Resolver = names{"shop.example": strings.Split(leads, ",")}
			}
			req := toolabi.HTTPRequest{Method: "POST", URL: "http://shop.example/"}
			if f.url != "" {
				req.URL = f.url
			}
			if f.method != "" {
				req.Method = f.method
			}
			if f.header != nil {
				req.Headers = []toolabi.Header{{Name: f.header[0], Value: f.header[1]}}
			}
			// What is granted is near to what is asked for: nothing is refused only because nothing is granted.
			_, err := send(t, cfg, granted("http://shop.example", "http://127.0.0.1", "https://shop.example:8443"), req)
			if e := wantError(t, err, f.code, toolabi.EffectNone); e.Detail != f.detail {
				t.Errorf("got %+v, want the detail %q", e, f.detail)
			}
		})
	}
}

// rebinding is a name that is public when it is asked for first, and loopback afterwards.
type rebinding struct{ asked int }

func (r *rebinding) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if r.asked++; r.asked == 1 {
		return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestANameThatChangesBetweenItsJudgementAndTheConnection(t *testing.T) {
	s := replies(t, okReply)
	r := new(rebinding)
	var dialled []string
	cfg := leadingTo(s.url, nil)
	cfg.Resolver = r
	dial := cfg.Dial
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return dial(ctx, network, address)
	}
	if _, err := send(t, cfg, granted("http://shop.example"), post("http://shop.example")); err != nil || r.asked != 1 || len(dialled) != 1 || dialled[0] != "93.184.215.14:80" {
		t.Fatalf("got %v after %d questions, dialled %v", err, r.asked, dialled)
	}
	_, err := send(t, cfg, granted("http://shop.example"), post("http://shop.example"))
	if e := wantError(t, err, toolabi.Denied, toolabi.EffectNone); e.Detail != "address" || len(dialled) != 1 {
		t.Errorf("got %+v, dialled %v", e, dialled)
	}
}

// A hop is resolved and judged again: the name that was public for the first request is not for the second.
func TestANameThatChangesBetweenTwoHops(t *testing.T) {
	w := redirecting(t, map[string]string{"shop.example/x": to(302, "/y")})
	cfg := w.everywhere()
	cfg.Resolver = new(rebinding)
	_, err := fetch(t, cfg, granted("http://shop.example"), get("http://shop.example/x", 5))
	if e := wantError(t, err, toolabi.Denied, toolabi.EffectApplied); e.Detail != "redirect" || len(w.asked()) != 1 {
		t.Errorf("got %+v after %q", e, w.asked())
	}
}

func TestEveryAddressIsJudgedHoweverManyThereAre(t *testing.T) {
	list := make([]string, 0, 10_001)
	for range 10_000 {
		list = append(list, "93.184.215.14")
	}
	cfg := noNetwork(t)
	cfg.Resolver = names{"shop.example": append(list, "127.0.0.1")}
	_, err := send(t, cfg, granted("http://shop.example"), post("http://shop.example"))
	wantError(t, err, toolabi.Denied, toolabi.EffectNone)
}

var _ hostfuncs.Resolver = (*rebinding)(nil)
