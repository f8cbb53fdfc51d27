package hostfuncs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// String returns the grant in the form of ParseSecret.
func (s SecretGrant) String() string {
	if len(s.Origins) == 0 {
		return s.Name + "=" + s.Source
	}
	return s.Name + "=" + s.Source + "@" + strings.Join(s.Origins, ",")
}

// maxSecretOrigins is how many origins a secret can be bound to.
const maxSecretOrigins = 32

// ParseSecret reads a grant of a secret as people write it: NAME=SOURCE@ORIGIN, with further origins behind commas, such as
// stripe=env:STRIPE_KEY@https://api.stripe.com. The source is env:VARIABLE, file:PATH, where a relative path counts from the
// directory of the process, or cmd:PROGRAM ARG…. A mail server, smtps://HOST:PORT or smtp://HOST:PORT, is an origin too. Without
// an @ and origins the secret is bound to nothing: it can be asked about and not be sent. What is returned passes Validate.
func ParseSecret(s string) (SecretGrant, error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok {
		return SecretGrant{}, errors.New("secret: want NAME=SOURCE@ORIGIN, such as stripe=env:STRIPE_KEY@https://api.stripe.com") // not quoted: it may be a value
	}
	if !toolabi.IsSecretName(name) {
		return SecretGrant{}, badSecretName(name)
	}
	g := SecretGrant{Name: name, Source: rest}
	if at := lastOrigin(rest); at >= 0 {
		g.Source = rest[:at]
		for text := range strings.SplitSeq(rest[at+1:], ",") {
			origin, err := parseSecretOrigin(text)
			if err != nil {
				return SecretGrant{}, fmt.Errorf("secret %s: %w", name, err)
			}
			if !slices.Contains(g.Origins, origin) {
				g.Origins = append(g.Origins, origin)
			}
		}
	} else if forgotScheme(rest) {
		return SecretGrant{}, fmt.Errorf("secret %s: what stands behind the @ is no origin: want https://HOST, http://HOST, smtps://HOST:PORT or smtp://HOST:PORT", name)
	}
	var err error
	if g.Source, err = canonicalSource(g.Source); err != nil {
		return SecretGrant{}, fmt.Errorf("secret %s: %w", name, err)
	}
	return g, g.validate()
}

func badSecretName(name string) error {
	return fmt.Errorf("secret %q: want a name of lower-case letters, digits, and inner hyphens and underscores, at most 64", toolabi.CleanLine(name, 80))
}

// forgotScheme says whether somebody wrote @HOST where @https://HOST was meant.
func forgotScheme(source string) bool {
	i := strings.LastIndexByte(source, '@')
	return i >= 0 && !strings.HasPrefix(source, "cmd:") && !strings.ContainsAny(source[i:], `/\`)
}

// originSchemes are what an @ is followed by that ends a source.
var originSchemes = []string{"@https://", "@http://", "@smtps://", "@smtp://"}

// lastOrigin returns where the @ before the origins of a grant is, or -1.
func lastOrigin(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		for _, scheme := range originSchemes {
			if s[i] == '@' && len(s)-i >= len(scheme) && strings.EqualFold(s[i:i+len(scheme)], scheme) {
				return i
			}
		}
	}
	return -1
}

// parseSecretOrigin returns the canonical form of what a secret can be bound to.
func parseSecretOrigin(s string) (string, error) {
	scheme, authority, _ := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if scheme != "smtp" && scheme != "smtps" {
		return ParseOrigin(s)
	}
	o, err := parseOrigin("http://" + authority)
	if err != nil {
		return "", fmt.Errorf("mail server %q: want %s://HOST:PORT", toolabi.CleanLine(s, 80), scheme)
	}
	host, _, err := splitPort(authority, 0)
	if err != nil || host == authority {
		return "", fmt.Errorf("mail server %q: its port is missing: want %s://HOST:PORT", toolabi.CleanLine(s, 80), scheme)
	}
	server := o.host
	if o.addr.Is6() {
		server = "[" + server + "]"
	}
	return fmt.Sprintf("%s://%s:%d", scheme, server, o.port), nil // with its port, since there is none that everybody means
}

func (g Grants) validateSecrets() error {
	for i, s := range g.Secrets {
		if err := s.validate(); err != nil {
			return err
		}
		if other, _ := g.Secret(s.Name); !g.Secrets[i].equal(other) {
			if s.Source != other.Source {
				return conflict(GrantedSecret, s.Name, other.Source, s.Source)
			}
			return fmt.Errorf("secret %s is granted twice: name all of its origins in one grant", s.Name)
		}
	}
	return nil
}

func (s SecretGrant) validate() error {
	if !toolabi.IsSecretName(s.Name) {
		return badSecretName(s.Name)
	}
	if source, err := canonicalSource(s.Source); err != nil || source != s.Source {
		if err == nil {
			err = fmt.Errorf("source %q: write it as %q", toolabi.CutText(s.Source, 200), toolabi.CutText(source, 200))
		}
		return fmt.Errorf("secret %s: %w", s.Name, err)
	}
	if len(s.Origins) == 0 && lastOrigin(s.Source) >= 0 {
		return fmt.Errorf("secret %s: its source reads as if it were bound to an origin", s.Name)
	}
	if len(s.Origins) > maxSecretOrigins {
		return fmt.Errorf("secret %s: it is bound to %d origins, at most %d are allowed", s.Name, len(s.Origins), maxSecretOrigins)
	}
	for i, o := range s.Origins {
		switch canonical, err := parseSecretOrigin(o); {
		case err != nil:
			return fmt.Errorf("secret %s: %w", s.Name, err)
		case canonical != o:
			return fmt.Errorf("secret %s: origin %q: write it as %s", s.Name, toolabi.CutText(o, 200), canonical)
		case slices.Contains(s.Origins[:i], o):
			return fmt.Errorf("secret %s: it is bound to %s twice", s.Name, o)
		}
	}
	return nil
}
