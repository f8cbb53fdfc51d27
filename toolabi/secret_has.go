package toolabi

import "strings"

// DetailSecret is the Detail of errors about secrets: one that cannot be used or read, and what holds the value of one.
const DetailSecret = "secret"

// FuncSecretHas says whether a secret can be used. Read: the answer is recorded.
const FuncSecretHas = "secret_has"

// SecretHasRequest is the request of secret_has. A manifest that names targets for it names the secrets that may be asked for.
//
// Errors: Invalid for what is no name of a secret; Denied for one that is not among the targets.
type SecretHasRequest struct {
	// Name is the secret's: lower-case letters, digits, and inner hyphens and underscores, at most 64.
	Name string `cbor:"1,keyasint"`
}

// SecretHasReply is the reply of secret_has.
type SecretHasReply struct {
	// Has says that the secret is granted, and that its value could be read just now. The value itself never enters a guest.
	Has bool `cbor:"1,keyasint,omitempty"`
}

// IsSecretName says whether s can be the name of a secret, or of a value of the configuration.
func IsSecretName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	if s == "" || len(s) > 64 || strings.Trim(s, letters+"_-") != "" {
		return false
	}
	return strings.IndexByte(letters, s[0]) >= 0 && strings.IndexByte(letters, s[len(s)-1]) >= 0
}

// SecretRef returns what stands for a secret in headers and bodies of requests: {{secret:NAME}}. The host fills the value in
// when it sends to an origin that the secret is bound to. Where the value comes back, in whatever part of a reply and also in
// base64, hexadecimal or percent-encoded, the guest finds SecretMark in its place.
func SecretRef(name string) string { return "{{secret:" + name + "}}" }

// SecretMark returns what stands where the value of a secret was taken out.
func SecretMark(name string) string { return "[secret:" + name + "]" }

// SecretRefs returns the names of the secrets that are referred to in s, in order, each once. What begins as a reference and
// is none is returned as bad, cut to 80 bytes.
func SecretRefs(s string) (names []string, bad string) {
	const begin, end = "{{secret:", "}}"
	seen := map[string]bool{}
	for {
		_, rest, ok := strings.Cut(s, begin)
		if !ok {
			return names, ""
		}
		name, after, ok := strings.Cut(rest, end)
		if !ok || !IsSecretName(name) {
			return names, CutText(begin+rest, 80)
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
		s = after
	}
}
