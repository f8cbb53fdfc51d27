package hostfuncs

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxSource is how long a source can be, in bytes.
const maxSource = 4096

// envName leaves out what some shells cannot set.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)

// canonicalSource returns the only spelling of the source of a secret. Errors do not quote what is no source: it may be a value
// that somebody wrote there by mistake.
func canonicalSource(s string) (string, error) {
	kind, rest, _ := strings.Cut(s, ":")
	switch {
	case len(s) > maxSource:
		return "", fmt.Errorf("the source has %d bytes, at most %d are allowed", len(s), maxSource)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, isControl):
		return "", errors.New("the source has bytes that are no text, or control characters")
	case kind == "env":
		if !envName.MatchString(rest) {
			return "", errors.New("want env:VARIABLE, of letters, digits and underscores")
		}
		return s, nil
	case kind == "file":
		if rest == "" {
			return "", errors.New("which file? want file:PATH")
		}
		path, err := filepath.Abs(rest)
		if err != nil {
			return "", fmt.Errorf("file %s: %w", rest, err)
		}
		return "file:" + path, nil
	case kind == "cmd":
		args := strings.Fields(rest)
		if len(args) == 0 {
			return "", errors.New("which program? want cmd:PROGRAM ARG…")
		}
		if strings.ContainsAny(args[0], `/\`) && !filepath.IsAbs(args[0]) {
			return "", fmt.Errorf("program %s: want a name that is found on the PATH, or an absolute path", toolabi.CutText(args[0], 80))
		}
		return "cmd:" + strings.Join(args, " "), nil
	}
	return "", errors.New("want env:VARIABLE, file:PATH or cmd:PROGRAM ARG… as its source; the value itself is never written down")
}

func isControl(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f }

// SecretSource returns the only spelling of the source of a secret, as ReadSecret reads it. An error does not quote what is no
// source: it may be a value that somebody wrote there by mistake.
func SecretSource(s string) (string, error) { return canonicalSource(s) }
