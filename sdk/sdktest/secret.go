package sdktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// named refuses a name that the module's targets do not have, and what is none.
func (s *stage) named(function, name string) error {
	switch targets := s.targets(function); {
	case !toolabi.IsSecretName(name):
		return invalidf("%s: %.80q is no name", function, name)
	case len(targets) > 0 && !slices.Contains(targets, name):
		return toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s: %s is not among the targets of the module", function, name))
	}
	return nil
}

func (s *stage) secretHas(req toolabi.SecretHasRequest) (reply toolabi.SecretHasReply, err error) {
	if err := s.named(toolabi.FuncSecretHas, req.Name); err != nil {
		return reply, err
	}
	_, reply.Has = s.Secrets[req.Name]
	return reply, nil
}

func (s *stage) configGet(req toolabi.ConfigGetRequest) (reply toolabi.ConfigGetReply, err error) {
	if err := s.named(toolabi.FuncConfigGet, req.Key); err != nil {
		return reply, err
	}
	reply.Value, reply.Found = s.Config[req.Key]
	return reply, nil
}

// admitSecrets judges what a request refers to: the module has to name the secret for the function, and the World has to have it.
func (s *stage) admitSecrets(function string, req toolabi.HTTPRequest) error {
	texts := []string{string(req.Body)}
	for _, h := range req.Headers {
		if name := strings.ToLower(h.Name); len(s.Secrets) > 0 && slices.Contains([]string{"accept-encoding", "range", "if-range"}, name) {
			return invalidf("%s: the header %s is not sent to a server that has a secret", function, h.Name)
		}
		texts = append(texts, h.Value)
	}
	for _, text := range texts {
		names, bad := toolabi.SecretRefs(text)
		if bad != "" {
			return aboutSecret(toolabi.Invalid, "%s: %q is no reference to a secret: want {{secret:NAME}}", function, bad)
		}
		for _, name := range names {
			if !slices.Contains(s.secretsOf(function), name) {
				return aboutSecret(toolabi.Denied, "%s: the module does not name secret %s for it", function, name)
			}
			if _, ok := s.Secrets[name]; !ok {
				return aboutSecret(toolabi.Denied, "%s: secret %s is not granted", function, name)
			}
		}
	}
	return nil
}

func aboutSecret(code toolabi.Code, format string, a ...any) error {
	e := toolabi.NewError(code, fmt.Sprintf(format, a...))
	e.Detail = "secret"
	return e
}

// secretsOf are those that the module's requests of a function may refer to.
func (s *stage) secretsOf(function string) []string {
	for _, c := range s.module.Capabilities {
		if c.Name == function {
			return c.Secrets
		}
	}
	return nil
}

// fill returns text with the values of secrets, hide text without them.
func (s *stage) fill(text string) string { return s.replaced(text, toolabi.SecretRef, false) }
func (s *stage) hide(text string) string { return s.replaced(text, toolabi.SecretMark, true) }

func (s *stage) replaced(text string, word func(string) string, hide bool) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		switch value := s.Secrets[name]; {
		case !hide:
			pairs = append(pairs, word(name), value)
		case value != "":
			pairs = append(pairs, value, word(name))
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
