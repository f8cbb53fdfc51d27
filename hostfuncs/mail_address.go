package hostfuncs

import (
	"errors"
	"net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// address is an address of mail in its only spelling: the domain in lower case, the part before the @ as it was written, since
// it is the receiving server's to say whether its case matters.
type address struct {
	local, domain string
}

// parseAddress reads LOCAL@DOMAIN: dotted words of the characters that need no quotes, and characters beyond ASCII, of at most
// 64 bytes; and a host name in its xn-- form, which is no IP address. Names, comments, quotes, routes and blanks are refused, so
// that an address has one meaning wherever it is read.
func parseAddress(s string) (address, error) {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || len(s) > 254 || len(local) > 64 {
		return address{}, errors.New("want NAME@DOMAIN of at most 254 bytes, 64 of them before the @")
	}
	for _, word := range strings.Split(local, ".") {
		if word == "" {
			return address{}, errors.New("want dots only between other characters before the @")
		}
	}
	if !utf8.ValidString(local) || toolabi.CleanLine(local, len(local)) != local || strings.ContainsFunc(local, notInLocal) {
		return address{}, errors.New("want letters, digits and !#$%&'*+-/=?^_`{|}~. before the @, without quotes")
	}
	domain, err := parseDomain(domain)
	if err != nil {
		return address{}, err
	}
	a := address{local, domain}
	if read, err := mail.ParseAddress("<" + a.String() + ">"); err != nil || read.Address != a.String() {
		return address{}, errors.New("it can be read in another way")
	}
	return a, nil
}

// notInLocal says whether a character would need quotes, or is a blank of some kind.
func notInLocal(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	case r < utf8.RuneSelf:
		return !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r)
	}
	return strings.TrimSpace(string(r)) == "" || r == utf8.RuneError
}

// parseDomain reads the domain of an address.
func parseDomain(s string) (string, error) {
	if err := checkAuthority(s); err != nil {
		return "", errors.New("the domain: names beyond ASCII are written in their xn-- form, and there is nothing but letters, digits, dots and hyphens")
	}
	o, err := origin{}.withName(strings.ToLower(s))
	if err != nil || o.addr.IsValid() || strings.Contains(o.host, "_") {
		return "", errors.New("want the name of a host behind the @, and no address")
	}
	return o.host, nil
}

// String returns the only spelling.
func (a address) String() string { return a.local + "@" + a.domain }

// isASCII says whether every server can take it.
func (a address) isASCII() bool {
	return !strings.ContainsFunc(a.local, func(r rune) bool { return r >= utf8.RuneSelf })
}

// among says whether a list of addresses, domains with an @ before them, and * has a.
func (a address) among(list []string) bool { return MailCovers(list, a.String()) }

// MailCovers says whether a list of addresses, domains with an @ before them, and * has all of a target, which is one of those. What
// is none of them in the list counts for nothing.
func MailCovers(list []string, target string) bool {
	if canonical, err := ParseMailTo(target); err == nil {
		target = canonical
	}
	return slices.ContainsFunc(list, func(s string) bool {
		got, err := ParseMailTo(s)
		return err == nil && (got == "*" || got == target || strings.HasPrefix(got, "@") && strings.HasSuffix(target, got))
	})
}
