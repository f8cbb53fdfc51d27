package hostfuncs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// value returns the value of a secret that is granted, and makes it known.
func (v *Vault) value(ctx context.Context, function string, s SecretGrant) ([]byte, error) {
	value, err := v.valueOf(ctx, s)
	if err != nil {
		return nil, unreadable(function, s, err)
	}
	return value, nil
}

// valueOf is value, with an error that says nothing but why it cannot be read.
func (v *Vault) valueOf(ctx context.Context, s SecretGrant) ([]byte, error) {
	if v == nil {
		return nil, errors.New("this program reads no secrets")
	}
	v.mu.Lock()
	src, ok := v.sources[s.Source]
	if !ok {
		src = &secretSource{turn: make(chan struct{}, 1)}
		src.turn <- struct{}{}
		v.sources[s.Source] = src
	}
	v.mu.Unlock()
	select {
	case <-src.turn:
		defer func() { src.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, errors.New("the time ran out while it was waited for")
	}
	if src.value != nil {
		return src.value, nil
	}
	if src.err == nil || !time.Now().Before(src.until) {
		v.fetch(ctx, src, s)
	}
	if src.err != nil {
		err := errors.New(v.HideText(src.err.Error())) // of another secret, which a program may have said
		if ctx.Err() != nil {                          // that is this call's own matter
			src.err = nil
		}
		return nil, err
	}
	return src.value, nil
}

// fetch reads a source whose turn it is.
func (v *Vault) fetch(ctx context.Context, src *secretSource, s SecretGrant) {
	value, err := v.read(ctx, s.Source)
	if err == nil {
		err = judgeSecret(value, s.Source)
	}
	if err != nil {
		src.err, src.until = err, time.Now().Add(retrySecret)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forms = append(v.forms, forms(s.Name, value)...)
	v.search.Store(newSearch(slices.Clone(v.forms)))
	src.value, src.err = value, nil
}

// judgeSecret says why a value cannot be kept out of everything else, without showing it.
func judgeSecret(value []byte, source string) error {
	core := bytes.TrimSpace(value)
	switch {
	case len(value) == 0:
		return errors.New("it is empty")
	case len(value) > maxSecret:
		return fmt.Errorf("it has more than %d bytes", maxSecret)
	case len(core) < minSecret:
		return fmt.Errorf("it has fewer than %d bytes, and could not be taken out of replies without ruining them", minSecret)
	case bytes.IndexByte(value, 0) >= 0 || !utf8.Valid(value):
		return errors.New("it is no text: it has NUL bytes or is not UTF-8")
	case strings.Contains(source, string(core)):
		return errors.New("its source holds the value itself, and sources are written into journals: change the secret, and keep it elsewhere")
	}
	return nil
}

// unreadable says which secret is missing, and what to do about it. It is the error of a request that was not made.
func unreadable(function string, s SecretGrant, err error) error {
	text := toolabi.CleanLine(err.Error(), 300)
	e := toolabi.NewError(toolabi.Unavailable, fmt.Sprintf(
		"%s: secret %s cannot be read from %s: %s; nothing was sent (make it readable, or say where else it is: --secret %s=SOURCE@ORIGIN)",
		function, s.Name, toolabi.CleanLine(s.Source, 200), text, s.Name))
	e.Retry = toolabi.RetrySafe
	return secretError(e)
}

func secretError(e *toolabi.Error) *toolabi.Error {
	e.Detail = toolabi.DetailSecret
	return e
}

// bound says whether a secret may be sent to an origin or a mail server.
func (s SecretGrant) bound(origin string) bool { return slices.Contains(s.Origins, origin) }

// mayRefer returns the grant of a secret that a request of c's to an origin refers to.
func (c Call) mayRefer(function, name, origin string) (SecretGrant, error) {
	if !slices.Contains(c.Secrets, name) {
		return SecretGrant{}, secretError(toolabi.NewError(toolabi.Denied, fmt.Sprintf(
			"%s: the module's manifest does not name secret %s among those of %s; --secret cannot widen that", function, name, function)))
	}
	return c.granted(function, name, origin)
}

// granted returns the grant of a secret that may be sent to an origin or a mail server.
func (c Call) granted(function, name, origin string) (SecretGrant, error) {
	s, ok := c.Grants.Secret(name)
	switch {
	case !ok:
		return s, secretError(ungranted(c, function, "secret "+name, fmt.Sprintf("--secret %s=SOURCE@%s", name, origin)))
	case !s.bound(origin):
		return s, secretError(ungranted(c, function, fmt.Sprintf("sending secret %s to %s", name, origin), fmt.Sprintf("--secret %s=%s@%s", name, s.Source, origin)))
	}
	return s, nil
}

// Own returns a value that the host itself needs, such as the key of a provider, and makes it known under a name, so that it is
// kept out of everything like those that tools use. source is as ReadSecret has it.
func (v *Vault) Own(ctx context.Context, name, source string) ([]byte, error) {
	value, err := v.valueOf(ctx, SecretGrant{Name: name, Source: source})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read from %s: %s", name, toolabi.CleanLine(source, 200), toolabi.CleanLine(err.Error(), 300))
	}
	return []byte(string(value)), nil
}
