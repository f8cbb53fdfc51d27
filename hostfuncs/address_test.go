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

// names is a Resolver that knows what it is told.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	list, ok := n[host]
	if !ok || network != "ip" {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "10.9.8.7:53", IsNotFound: true}
	}
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

func TestANameMustNotLeadToASpecialAddress(t *testing.T) {
	for _, addr := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",
		"169.254.169.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1",
		"192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
		"255.255.255.255", "::", "::1", "::7f00:1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8", "100::1", "2001::1", "2001:0:7f00:1::f7f7:f7f7",
		"2001:0:808:808::80ff:fffe", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1",
		"2002:a9fe:a9fe::", "3fff::1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fe80::1%eth0",
		"fec0::1", "ff02::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1", "::ffff:0:127.0.0.1",
	} {
		t.Run(addr, func(t *testing.T) {
			for _, list := range [][]string{{addr}, {"93.184.215.14", addr}} {
				cfg := hostfuncs.Config{
					Resolver: names{"shop.example": list},
					Dial: func(_ context.Context, _, address string) (net.Conn, error) {
						t.Errorf("%s was dialled", address)
						return nil, net.ErrClosed
					},
				}
				_, err := send(t, cfg, granted("https://shop.example"), post("https://shop.example"))
				e := wantError(t, err, toolabi.Denied, toolabi.EffectNone)
				if e.Detail != "address" || !strings.Contains(e.Message, "--allow-net ") || !strings.Contains(e.Message, "or --allow-http ") {
					t.Errorf("the message does not name the flags: %s", e.Message)
				}
			}
		})
	}
}

func TestANameIsResolvedOnceAndItsAddressDialled(t *testing.T) {
	s := replies(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	for addr, want := range map[string]string{
		"93.184.215.14":             "93.184.215.14:80",
		"::ffff:93.184.215.14":      "93.184.215.14:80",
		"1.1.1.1":                   "1.1.1.1:80",
		"172.32.0.1":                "172.32.0.1:80",
		"100.128.0.1":               "100.128.0.1:80",
		"223.255.255.255":           "223.255.255.255:80",
		"2606:4700::1111":           "[2606:4700::1111]:80",
		"64:ff9b::808:808":          "[64:ff9b::808:808]:80",
		"2002:808:808::1":           "[2002:808:808::1]:80",
		"2001:0:808:808::f7f7:f7f7": "[2001:0:808:808::f7f7:f7f7]:80",
		"2001:4860:4860::8888":      "[2001:4860:4860::8888]:80",
	} {
		t.Run(addr, func(t *testing.T) {
			var dialled []string
			cfg := hostfuncs.Config{Resolver: names{"shop.example": {addr}}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(s.url, "http://"))
			}}
			reply, err := send(t, cfg, granted("http://shop.example"), post("http://shop.example"))
			if err != nil || reply.Status != 200 {
				t.Fatalf("got %+v, %v", reply, err)
			}
			if len(dialled) != 1 || dialled[0] != want {
				t.Errorf("dialled %v, want %s once", dialled, want)
			}
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.requests[0].Host; got != "shop.example" {
		t.Errorf("the server was asked for %q, want the name", got)
	}
}

func TestTheNextAddressIsTriedWhenOneCannotBeReached(t *testing.T) {
	s := replies(t, "HTTP/1.1 204 No Content\r\n\r\n")
	var dialled []string
	cfg := hostfuncs.Config{Resolver: names{"shop.example": {"1.1.1.1", "8.8.8.8"}}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		if len(dialled) == 1 {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: net.ErrClosed}
		}
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(s.url, "http://"))
	}}
	if _, err := send(t, cfg, granted("http://shop.example"), post("http://shop.example")); err != nil {
		t.Fatal(err)
	}
	if len(dialled) != 2 || s.count() != 1 {
		t.Errorf("dialled %v for %d requests, want two and one", dialled, s.count())
	}
}

func TestANameThatCannotBeResolvedIsUnavailable(t *testing.T) {
	for host, list := range map[string]names{"gone.example": {}, "empty.example": {"empty.example": nil}} {
		_, err := send(t, hostfuncs.Config{Resolver: list}, granted("https://"+host), post("https://"+host))
		e := wantError(t, err, toolabi.Unavailable, toolabi.EffectNone)
		if e.Retry != toolabi.RetrySafe || e.Detail != "dns" || strings.Contains(e.Message, "10.9.8.7") {
			t.Errorf("got %+v, want a safe retry and nothing of the name server", e)
		}
	}
}

func TestAGrantOfLocalhostReachesTheLoopbackAddressWithoutAResolver(t *testing.T) {
	s := replies(t, "HTTP/1.1 204 No Content\r\n\r\n")
	url := strings.Replace(s.url, "127.0.0.1", "localhost", 1)
	if _, err := send(t, hostfuncs.Config{Resolver: names{}}, granted(url), post(url)); err != nil {
		t.Fatal(err)
	}
	_, err := send(t, hostfuncs.Config{Resolver: names{}}, granted(s.url), post(url))
	wantError(t, err, toolabi.Denied, toolabi.EffectNone)
}
