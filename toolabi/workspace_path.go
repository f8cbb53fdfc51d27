package toolabi

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps and words of a path in the workspace, beside MaxWorkspacePath.
const (
	// MaxWorkspaceName is how long one part of a path may be, in bytes.
	MaxWorkspaceName = 255
	// WorkspaceTemp is what names begin with that are the host's: files that are being written. Its case does not matter.
	WorkspaceTemp = ".wrun-"
)

// CheckWorkspacePath says why text is no path in the workspace, or nil. The judgement is the same on all systems, so that a run
// can be resumed on another one: what one of them could not hold, or would read as something else, is a path on none. It looks
// at bytes, and takes two spellings of a letter for two paths.
func CheckWorkspacePath(path string) error {
	switch {
	case path == "":
		return errors.New("it is empty")
	case len(path) > MaxWorkspacePath:
		return fmt.Errorf("it has %d bytes, at most %d are allowed", len(path), MaxWorkspacePath)
	case !utf8.ValidString(path):
		return errors.New("it is not UTF-8")
	}
	for name := range strings.SplitSeq(path, "/") {
		if err := checkWorkspaceName(name); err != nil {
			return err
		}
	}
	return nil
}

// IsWorkspaceName says whether name can be one part of a path in the workspace.
func IsWorkspaceName(name string) bool {
	return utf8.ValidString(name) && checkWorkspaceName(name) == nil
}

func checkWorkspaceName(name string) error {
	switch {
	case name == "":
		return errors.New("it begins or ends with a slash, or has two in a row")
	case name == "." || name == "..":
		return fmt.Errorf("%q is no name", name)
	case len(name) > MaxWorkspaceName:
		return fmt.Errorf("a name of %d bytes, at most %d are allowed", len(name), MaxWorkspaceName)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return errors.New("a name ends in a dot or a space")
	case len(name) >= len(WorkspaceTemp) && strings.EqualFold(name[:len(WorkspaceTemp)], WorkspaceTemp):
		return errors.New("names that begin with " + WorkspaceTemp + " are the host's")
	case IsDeviceName(name):
		return errors.New("a name that is a device of Windows")
	}
	for _, r := range name {
		if unicode.IsControl(r) || strings.ContainsRune(`/\:<>"|?*`, r) {
			return fmt.Errorf("it holds %q", r)
		}
	}
	return nil
}

// IsDeviceName says whether Windows takes a name for one of its devices, whatever it ends in: nul, NUL.txt, com1.tar.gz.
func IsDeviceName(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	digit, ok := strings.CutPrefix(base, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && utf8.RuneCountInString(digit) == 1 && strings.Contains("0123456789\u00b9\u00b2\u00b3", digit)
}
