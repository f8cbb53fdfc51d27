package hostfuncs

import "net/netip"

// specialRange is a block of addresses that no public server has.
type specialRange struct {
	prefix netip.Prefix
	kind   string
}

// special follows the special-purpose address registries of the IANA, with the metadata services of clouds beside them.
var special = ranges(
	"0.0.0.0/8", "unspecified",
	"10.0.0.0/8", "private",
	"100.64.0.0/10", "carrier-grade NAT",
	"127.0.0.0/8", "loopback",
	"168.63.129.16/32", "cloud metadata",
	"169.254.0.0/16", "link-local",
	"172.16.0.0/12", "private",
	"192.0.0.0/24", "reserved",
	"192.0.2.0/24", "documentation",
	"192.88.99.0/24", "reserved",
	"192.168.0.0/16", "private",
	"198.18.0.0/15", "benchmarking",
	"198.51.100.0/24", "documentation",
	"203.0.113.0/24", "documentation",
	"224.0.0.0/4", "multicast",
	"240.0.0.0/4", "reserved",
	"::/128", "unspecified",
	"::1/128", "loopback",
	"::/96", "IPv4-compatible",
	"64:ff9b:1::/48", "local NAT64",
	"100::/64", "discard-only",
	"2001:db8::/32", "documentation",
	"3fff::/20", "documentation",
	"5f00::/16", "reserved",
	"fc00::/7", "private",
	"fe80::/10", "link-local",
	"fec0::/10", "site-local",
	"ff00::/8", "multicast",
)

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	protocolBlock = netip.MustParsePrefix("2001::/23") // protocol assignments; Teredo is the first /32 of it
	teredo        = netip.MustParsePrefix("2001::/32")
	sixToFour     = netip.MustParsePrefix("2002::/16")
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
)

func ranges(pairs ...string) []specialRange {
	var out []specialRange
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, specialRange{netip.MustParsePrefix(pairs[i]), pairs[i+1]})
	}
	return out
}

// addressKind says why a name may not lead to an address, such as "loopback"; "" when it may. An address that carries an
// IPv4 address (mapped, NAT64, 6to4, Teredo) is judged by what it carries.
func addressKind(a netip.Addr) string {
	a = a.WithZone("").Unmap()
	if !a.IsValid() {
		return "unspecified"
	}
	for _, r := range special {
		if r.prefix.Contains(a) {
			return r.kind
		}
	}
	if a.Is4() {
		return ""
	}
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return addressKind(ipv4(b[12:]))
	case sixToFour.Contains(a):
		return addressKind(ipv4(b[2:]))
	case teredo.Contains(a):
		return teredoKind(b)
	case protocolBlock.Contains(a), !globalUnicast.Contains(a):
		return "reserved"
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return addressKind(ipv4(b[12:]))
	}
	return ""
}

// teredoKind judges the server and the client of a Teredo address; the client's bits are inverted in it.
func teredoKind(b [16]byte) string {
	if kind := addressKind(ipv4(b[4:])); kind != "" {
		return kind
	}
	return addressKind(netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
}

func ipv4(b []byte) netip.Addr { return netip.AddrFrom4([4]byte(b[:4])) }
