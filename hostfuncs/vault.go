package hostfuncs

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// Vault reads the values of secrets where they are needed, and keeps them out of everywhere else. A nil *Vault has none. It may
// be used concurrently.
//
// Each source is read once in the life of a vault: a value that changes is taken up by the next process. What could not be read
// is tried again when it is needed, at most every few seconds.
type Vault struct {
	read SecretReader

	mu      sync.Mutex
	sources map[string]*secretSource // guarded by mu
	forms   []*form                  // guarded by mu: of all that was read
	search  atomic.Pointer[search]   // over forms
}

// secretSource is a source and what it yielded.
type secretSource struct {
	turn  chan struct{} // holds one token: who has it reads
	value []byte        // guarded by turn, as are the next two
	err   error         // of the last attempt
	until time.Time     // when err is forgotten
}

// SecretReader reads the value of a secret from a source, as SecretGrant.Source has it. Its errors are shown to people and must
// not hold the value.
type SecretReader func(ctx context.Context, source string) ([]byte, error)

// retrySecret is how long a source that could not be read is left alone.
const retrySecret = 3 * time.Second

// NewVault returns a vault that reads with read; nil means ReadSecret.
func NewVault(read SecretReader) *Vault {
	if read == nil {
		read = ReadSecret
	}
	return &Vault{read: read, sources: map[string]*secretSource{}}
}

// Ready reads every secret that is granted to c and bound to o, so that their values are known before a reply of o is looked at.
// What cannot be read is an error, and nothing may be sent then: toolabi.Unavailable with the detail secret.
func (v *Vault) Ready(ctx context.Context, c Call, function string, o origin) error {
	for _, s := range c.Grants.Secrets {
		if s.bound(o.String()) {
			if _, err := v.value(ctx, function, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// Fill returns text with the values of the secrets that it refers to, for a request to o: at most max bytes, which are counted before
// there are any. Errors, all with the detail secret but for the last: toolabi.Denied for a secret that is not granted, not bound to o
// or not among c.Secrets; toolabi.Invalid for what is no reference; toolabi.Unavailable for one that cannot be read;
// toolabi.TooLarge.
func (v *Vault) Fill(ctx context.Context, c Call, function string, o origin, text string, max int) (string, error) {
	names, bad := toolabi.SecretRefs(text)
	if bad != "" {
		return "", secretError(toolabi.NewError(toolabi.Invalid, fmt.Sprintf("%s: %q is no reference to a secret: want {{secret:NAME}}", function, bad)))
	}
	if len(names) == 0 {
		return text, nil
	}
	var pairs []string
	size := int64(len(text)) // a short reference can be repeated a million times, and stand for a long value
	for _, name := range names {
		s, err := c.mayRefer(function, name, o.String())
		if err != nil {
			return "", err
		}
		value, err := v.value(ctx, function, s)
		if err != nil {
			return "", err
		}
		ref := toolabi.SecretRef(name)
		pairs = append(pairs, ref, string(value))
		size += int64(strings.Count(text, ref)) * int64(len(value)-len(ref))
	}
	if size > int64(max) {
		return "", tooLargef("%s: more than %d bytes with its secrets filled in", function, max)
	}
	return strings.NewReplacer(pairs...).Replace(text), nil
}

// Value returns the value of a secret that the operator's grants name for a server, as MailGrant does. server is as
// SecretGrant.Origins has it. Errors, all with the detail secret: toolabi.Denied for a secret that is not granted or not bound to
// the server; toolabi.Unavailable for one that cannot be read.
func (v *Vault) Value(ctx context.Context, c Call, function, name, server string) ([]byte, error) {
	s, err := c.granted(function, name, server)
	if err != nil {
		return nil, err
	}
	value, err := v.value(ctx, function, s)
	return []byte(string(value)), err
}

// Has says whether a secret is granted to c and its value can be read.
func (v *Vault) Has(ctx context.Context, c Call, name string) bool {
	s, ok := c.Grants.Secret(name)
	if !ok {
		return false
	}
	_, err := v.value(ctx, toolabi.FuncSecretHas, s)
	return err == nil
}

// Hide returns b with toolabi.SecretMark in place of every value that was read so far, in whatever form; b itself where there is
// none.
func (v *Vault) Hide(b []byte) []byte {
	if s := v.known(); s != nil {
		return s.hide(b)
	}
	return b
}

// HideText is Hide for text.
func (v *Vault) HideText(text string) string {
	if s := v.known(); s != nil {
		return string(s.hide([]byte(text)))
	}
	return text
}

// HideError returns an error without values in its text; e itself where there is none.
func (v *Vault) HideError(e *toolabi.Error) *toolabi.Error {
	if e == nil {
		return nil
	}
	message, detail := v.HideText(e.Message), v.HideText(e.Detail)
	if message == e.Message && detail == e.Detail {
		return e
	}
	hidden := *e
	hidden.Message, hidden.Detail = toolabi.CutText(message, toolabi.MaxText), toolabi.CutText(detail, 64)
	return &hidden
}

// Hiding is Hide for what is too long to hold. Values count that were read before the first byte is asked for.
func (v *Vault) Hiding(r io.Reader) io.Reader {
	if s := v.known(); s != nil {
		return &hidingReader{r: r, h: newHiding(s)}
	}
	return r
}

// Find returns the name of a secret whose value is in b, in whatever form, or "".
func (v *Vault) Find(b []byte) string {
	if s := v.known(); s != nil {
		return s.find(b)
	}
	return ""
}

func (v *Vault) known() *search {
	if v == nil {
		return nil
	}
	return v.search.Load()
}
