package hostfuncs

import (
	"encoding/base64"
	"slices"
	"strings"
)

// login logs in where the grant says so. It is asked for under TLS only, or by a server on this host.
func (t *talk) login(password string) error {
	if t.letter.user == "" {
		return nil
	}
	t.phase = "login"
	ways := strings.Fields(t.has["AUTH"])
	switch {
	case strings.ContainsRune(password, 0):
		return &unfit{"login", "the secret " + t.letter.secret + " has a NUL in it, which no password can have"}
	case slices.Contains(ways, "PLAIN"):
		_, err := t.ask(2, "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00"+t.letter.user+"\x00"+password)))
		return err
	case !slices.Contains(ways, "LOGIN"):
		return &unfit{"login", "the server has neither AUTH PLAIN nor AUTH LOGIN"}
	}
	if _, err := t.ask(3, "AUTH LOGIN"); err != nil {
		return err
	}
	if _, err := t.ask(3, base64.StdEncoding.EncodeToString([]byte(t.letter.user))); err != nil {
		return err
	}
	_, err := t.ask(2, base64.StdEncoding.EncodeToString([]byte(password)))
	return err
}
