package hostfuncs

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// ParseMail reads the grant of a mail server as people write it: SERVER,from=ADDRESS, and ,user=NAME,secret=SECRET behind it for
// logging in. SERVER is smtps://HOST or smtp://HOST, with :PORT behind it unless that is 465 or 587. Who may be written
// to is for ParseMailTo.
func ParseMail(s string) (MailGrant, error) {
	fields := strings.Split(s, ",")
	m := MailGrant{Server: fields[0]}
	if m.Server == "" {
		return MailGrant{}, errNoMailServer
	}
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, "=")
		to := map[string]*string{"from": &m.From, "user": &m.User, "secret": &m.Secret}[name]
		switch {
		case to == nil:
			return MailGrant{}, fmt.Errorf("mail: %q: want from=, user= or secret= behind the server", toolabi.CleanLine(name, 40))
		case value == "" || *to != "":
			return MailGrant{}, fmt.Errorf("mail: want %s=, with something behind it, once", name)
		}
		*to = value
	}
	if o, err := parseMailServer(m.Server); err == nil {
		m.Server = mailServer(o)
	}
	if a, err := parseAddress(m.From); err == nil {
		m.From = a.String()
	}
	return m, m.validate()
}

// ParseMailTo returns the only spelling of who may be written to: an address, @DOMAIN for all of a domain but not of those
// below it, or * for everybody.
func ParseMailTo(s string) (string, error) {
	if s == "*" {
		return s, nil
	}
	if domain, ok := strings.CutPrefix(s, "@"); ok {
		domain, err := parseDomain(domain)
		if err != nil {
			return "", fmt.Errorf("mail to %q: %w", toolabi.CleanLine(s, 80), err)
		}
		return "@" + domain, nil
	}
	a, err := parseAddress(s)
	if err != nil {
		return "", fmt.Errorf("mail to %q: want an address, @DOMAIN or *: %w", toolabi.CleanLine(s, 80), err)
	}
	return a.String(), nil
}

// parseMailServer reads the server of a grant.
func parseMailServer(s string) (origin, error) { return parseServer(s, "smtp", "smtps") }

// mailServer is the only spelling of a server, in grants and in what secrets are bound to: always with its port.
func mailServer(o origin) string {
	return o.scheme + "://" + net.JoinHostPort(o.host, strconv.Itoa(int(o.port)))
}

// String returns the grant in the form of ParseMail, without who may be written to; "" for one that grants nothing.
func (m MailGrant) String() string {
	if m.Server == "" {
		return ""
	}
	s := m.Server + ",from=" + m.From
	if m.User != "" {
		s += ",user=" + m.User
	}
	if m.Secret != "" {
		s += ",secret=" + m.Secret
	}
	return s
}

var errNoMailServer = errors.New("mail: which server? want smtps://HOST or smtp://HOST")

// maxMailUser is the longest name of a user, in bytes.
const maxMailUser = 255

// validate says what is wrong with a grant, or that it is not in its only spelling. The zero value grants nothing, and recipients
// may be granted by themselves: they join a server that is granted elsewhere.
func (m MailGrant) validate() error {
	if m.account() != (MailGrant{}).account() {
		if err := m.validateAccount(); err != nil {
			return err
		}
	}
	for i, s := range m.To {
		to, err := ParseMailTo(s)
		switch {
		case err != nil:
			return err
		case to != s:
			return fmt.Errorf("mail to %s: write %s", s, to)
		case slices.Contains(m.To[:i], s):
			return fmt.Errorf("mail to %s: it is there twice", s)
		}
	}
	return nil
}

// validateAccount is validate for everything but the recipients.
func (m MailGrant) validateAccount() error {
	o, err := parseMailServer(m.Server)
	switch {
	case m.Server == "":
		return errNoMailServer
	case err != nil:
		return fmt.Errorf("mail: %w", err)
	case mailServer(o) != m.Server:
		return fmt.Errorf("mail: write %s for the server %s", mailServer(o), m.Server)
	}
	if a, err := parseAddress(m.From); err != nil {
		return fmt.Errorf("mail: from=%s: %w", toolabi.CleanLine(m.From, 80), err)
	} else if a.String() != m.From {
		return fmt.Errorf("mail: write from=%s for %s", a, m.From)
	}
	switch {
	case (m.User == "") != (m.Secret == ""):
		return errors.New("mail: want user= and secret=, or neither of them")
	case len(m.User) > maxMailUser || toolabi.CleanLine(m.User, maxMailUser) != m.User || strings.Contains(m.User, ","):
		return fmt.Errorf("mail: want a user of at most %d bytes on one line, without commas", maxMailUser)
	case m.Secret != "" && !toolabi.IsSecretName(m.Secret):
		return fmt.Errorf("mail: %q is no name of a secret", toolabi.CleanLine(m.Secret, 80))
	}
	return m.validateTo()
}

func (m MailGrant) validateTo() error {
	return nil
}
