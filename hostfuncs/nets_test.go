package hostfuncs_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestABlockOfAddressesHasOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.1.2.3": "10.1.2.3/32", "0.0.0.0/0": "0.0.0.0/0", "FD00::/8": "fd00::/8", "::1": "::1/128", "64:ff9b::7f00:1": "64:ff9b::7f00:1/128",
		"fd00:0:0::/48": "fd00::/48",
	} {
		if got, err := hostfuncs.ParseNet(in); err != nil || got != want {
			t.Errorf("%q is %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "*", "10", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.1/8", "10.0.0/8", "127.1", "127.1/8", "0x7f000001", "010.0.0.0/8", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1",
		"fe80::1%eth0", "fe80::%eth0/64", "localhost", "10.0.0.0/8,127.0.0.1", " 10.0.0.0/8", "10.0.0.0 /8", "fd00::/129", "10.0.0.0/-1", "http://10.0.0.1",
	} {
		if got, err := hostfuncs.ParseNet(in); err == nil {
			t.Errorf("%q is read as %q", in, got)
		}
	}
}

func FuzzParseNet(f *testing.F) {
	for _, s := range []string{"10.0.0.0/8", "::1", "fd00::/8", "::ffff:1.2.3.4/120", "1.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := hostfuncs.ParseNet(s)
		if err != nil {
			return
		}
		if again, err := hostfuncs.ParseNet(got); err != nil || again != got {
			t.Fatalf("%q is canonical for %q and reads as %q, %v", got, s, again, err)
		}
		if p, err := netip.ParsePrefix(got); err != nil || p.Masked().String() != got {
			t.Fatalf("%q from %q is no block: %v", got, s, err)
		}
	})
}

func TestAGrantedBlockLetsNamesLeadIntoIt(t *testing.T) {
	for _, tt := range []struct {
		net, addr string
		want      bool
	}{
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.0.0.0/8", "::ffff:10.1.2.3", true},
		{"10.0.0.0/8", "11.1.2.3", true}, // public
		{"10.0.0.0/8", "192.168.0.1", false},
		{"127.0.0.0/8", "127.0.0.1", true},
		{"127.0.0.0/8", "64:ff9b::7f00:1", false},
		{"64:ff9b::/96", "64:ff9b::7f00:1", true},
		{"64:ff9b::7f00:1/128", "64:ff9b::7f00:2", false},
		{"127.0.0.0/8", "2002:7f00:1::", false},
		{"2002:7f00:1::/48", "2002:7f00:1::", true},
		{"127.0.0.0/8", "::7f00:1", false},
		{"127.0.0.0/8", "2001:0:7f00:1::f7f7:f7f7", false},
		{"2001::/32", "2001:0:7f00:1::f7f7:f7f7", true},
		{"::/0", "127.0.0.1", false},
		{"::/0", "::1", true},
		{"0.0.0.0/0", "::1", false},
		{"169.254.169.254/32", "169.254.169.254", true},
		{"fe80::/10", "fe80::1%eth0", true},
		{"nonsense", "10.0.0.1", false},
	} {
		s := replies(t, okReply)
		c := granted("http://shop.example")
		c.Grants.Nets = []string{tt.net}
		_, err := send(t, leadingTo(s.url, names{"shop.example": {tt.addr}}), c, post("http://shop.example"))
		if tt.want != (err == nil) || tt.want != (s.count() == 1) {
			t.Errorf("%s with %s: %v after %d requests, want it reached: %v", tt.addr, tt.net, err, s.count(), tt.want)
		}
		if err == nil {
			continue
		}
		e := wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		_, flag, _ := strings.Cut(e.Message, "--allow-net ")
		flag, _, _ = strings.Cut(flag, ",")
		c.Grants.Nets = []string{flag}
		if _, err := send(t, leadingTo(s.url, names{"shop.example": {tt.addr}}), c, post("http://shop.example")); err != nil || e.Detail != "address" {
			t.Errorf("%s with the flag that %q names: %v", tt.addr, e.Message, err)
		}
	}
}
