package hostfuncs_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// nameServer is a name server on loopback that answers questions for A and AAAA with what answer says. A nil answer is that the
// name is not there.
type nameServer struct {
	conn   net.PacketConn
	done   chan struct{}
	mu     sync.Mutex // guards the rest
	asked  int
	answer func(n int, name string) []string // addresses, names (a CNAME each), or "?" for no answer at all
}

func serveNames(t testing.TB, answer func(n int, name string) []string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, done: make(chan struct{}), answer: answer}
	go s.serve()
	t.Cleanup(func() {
		conn.Close()
		<-s.done
	})
	return s
}

// resolver asks s and nobody else, whatever the system's configuration says.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve() {
	defer close(s.done)
	b := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(b)
		if err != nil {
			return
		}
		if n > 12 {
			if out := s.reply(append([]byte(nil), b[:n]...)); out != nil {
				s.conn.WriteTo(out, from)
			}
		}
	}
}

// reply answers one question.
func (s *nameServer) reply(q []byte) []byte {
	end := 12
	var labels []string
	for end < len(q) && q[end] != 0 {
		labels = append(labels, string(q[end+1:end+1+int(q[end])]))
		end += 1 + int(q[end])
	}
	kind := binary.BigEndian.Uint16(q[end+1:])
	name := strings.Join(labels, ".")
	s.mu.Lock()
	if kind == 1 {
		s.asked++
	}
	list := s.answer(s.asked, name)
	s.mu.Unlock()
	out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end+5]...)
	if list == nil {
		out[3] |= 3 // no such name
		return out
	}
	owner, count := []byte{0xc0, 12}, 0
	for _, said := range list {
		if said == "?" {
			return nil
		}
		a, err := netip.ParseAddr(said)
		switch {
		case err != nil: // a CNAME, whose target owns what follows
			target := wireName(said)
			out = appendRecord(out, owner, 5, target)
			owner, count = target, count+1
		case a.Is4() && kind == 1, a.Is6() && kind == 28:
			out = appendRecord(out, owner, kind, a.AsSlice())
			count++
		}
	}
	binary.BigEndian.PutUint16(out[6:], uint16(count))
	return out
}

// appendRecord appends a record with a time to live of 0.
func appendRecord(out, owner []byte, kind uint16, data []byte) []byte {
	out = append(out, owner...)
	out = binary.BigEndian.AppendUint16(out, kind)
	out = append(out, 0, 1, 0, 0, 0, 0)
	out = binary.BigEndian.AppendUint16(out, uint16(len(data)))
	return append(out, data...)
}

func wireName(name string) []byte {
	var out []byte
	for l := range strings.SplitSeq(name, ".") {
		out = append(append(out, byte(len(l))), l...)
	}
	return append(out, 0)
}

// H10: a name server says what it likes; a name leads to public addresses or nowhere.
func TestHostileNameServers(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answer  func(n int, name string) []string
		code    toolabi.Code // 0 for what is dialled
		detail  string
		dialled string
	}{
		{"H10 public, then loopback with a time to live of 0", func(n int, _ string) []string {
			if n == 1 {
				return []string{"93.184.215.14"}
			}
			return []string{"127.0.0.1"}
		}, 0, "", "93.184.215.14:80"},
		{"H10 loopback", func(int, string) []string { return []string{"127.0.0.1"} }, toolabi.Denied, "address", ""},
		{"H10 both", func(int, string) []string { return []string{"93.184.215.14", "127.0.0.1"} }, toolabi.Denied, "address", ""},
		{"H10 public in IPv4 and loopback in IPv6", func(int, string) []string { return []string{"93.184.215.14", "::1"} }, toolabi.Denied, "address", ""},
		{"H10 NAT64", func(int, string) []string { return []string{"64:ff9b::7f00:1"} }, toolabi.Denied, "address", ""},
		{"H10 6to4", func(int, string) []string { return []string{"2002:7f00:1::"} }, toolabi.Denied, "address", ""},
		{"H10 unspecified", func(int, string) []string { return []string{"0.0.0.0"} }, toolabi.Denied, "address", ""},
		{"H10 mapped", func(int, string) []string { return []string{"::ffff:127.0.0.1"} }, toolabi.Denied, "address", ""},
		{"H10 a chain of names to loopback", func(int, string) []string { return []string{"a.example", "b.example", "c.example", "127.0.0.1"} }, toolabi.Denied, "address", ""},
		{"H10 a chain of names to a public address", func(int, string) []string { return []string{"a.example", "b.example", "93.184.215.14"} }, 0, "", "93.184.215.14:80"},
		{"H10 a name for itself", func(_ int, name string) []string { return []string{name, name, name} }, toolabi.Unavailable, "dns", ""},
		{"H10 no such name", func(int, string) []string { return nil }, toolabi.Unavailable, "dns", ""},
		{"H10 no address", func(int, string) []string { return []string{} }, toolabi.Unavailable, "dns", ""},
		{"H10 no answer", func(int, string) []string { return []string{"?"} }, toolabi.Timeout, "dns", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := replies(t, okReply)
			var dialled string
			cfg := leadingTo(web.url, nil)
			dial := cfg.Dial
			cfg.Resolver = serveNames(t, tt.answer).resolver()
			cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				dialled = address
				return dial(ctx, network, address)
			}
			req := post("http://shop.example")
			req.TimeoutMS = 10_000
			if tt.code == toolabi.Timeout {
				req.TimeoutMS = 100
			}
			_, err := send(t, cfg, granted("http://shop.example"), req)
			if tt.code == 0 && err != nil || dialled != tt.dialled {
				t.Fatalf("got %v, dialled %q, want %q", err, dialled, tt.dialled)
			}
			if tt.code == 0 {
				return
			}
			if e := wantError(t, err, tt.code, toolabi.EffectNone); e.Detail != tt.detail {
				t.Errorf("got %+v", e)
			}
		})
	}
}

var _ hostfuncs.Resolver = (*net.Resolver)(nil)
