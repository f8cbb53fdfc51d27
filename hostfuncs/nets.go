package hostfuncs

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// ParseNet returns the canonical form of a block of addresses, such as 10.0.0.0/8. An address alone is the block of itself.
// Zones, bits behind the prefix, and IPv4 blocks that are written as IPv6 are refused.
func ParseNet(s string) (string, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		s = netip.PrefixFrom(a, a.BitLen()).String()
		if a.Zone() != "" {
			return "", errors.New("net: zones are not allowed")
		}
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("net %q: want a block of addresses such as 10.0.0.0/8 or fd00::/8", toolabi.CleanLine(s, 80))
	case p.Addr().Is4In6():
		return "", fmt.Errorf("net %s: write IPv4 addresses as such, as they are judged: %s", p, p.Addr().Unmap())
	case p != p.Masked():
		return "", fmt.Errorf("net %s: the address has bits behind the prefix: write %s", p, p.Masked())
	}
	return p.String(), nil
}

// netGranted says whether names may lead to a although it is not public. An address that carries another one is meant by a block
// that holds it in the form in which it was found: who grants 127.0.0.0/8 has not granted what a translator makes of 64:ff9b::/96.
// Only a mapped address is the IPv4 address itself.
func netGranted(nets []string, a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	for _, s := range nets {
		if p, err := netip.ParsePrefix(s); err == nil && p.Contains(a) {
			return true
		}
	}
	return false
}

// judgeAddress says why a name may not lead to a, or nil.
func judgeAddress(c Call, function string, o origin, a netip.Addr) error {
	kind := addressKind(a)
	if kind == "" || netGranted(c.Grants.Nets, a) {
		return nil
	}
	a = a.WithZone("").Unmap()
	there := origin{scheme: o.scheme, host: a.String(), addr: a, port: o.port}
	itself := allowHTTP(HTTPGrant{Origin: there.String()})
	if function == toolabi.FuncMailSend {
		itself = "--mail " + mailServer(there) + ",from=…"
	}
	e := ungranted(c, function, fmt.Sprintf("%s at %s (%s)", o, a, kind),
		strings.Join([]string{"--allow-net " + netip.PrefixFrom(a, a.BitLen()).String(), "or " + itself + " for the address itself"}, ", "))
	e.Detail = "address"
	return e
}
