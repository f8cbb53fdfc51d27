package toolabi_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestPathsOfTheWorkspaceAreTheSameOnAllSystems(t *testing.T) {
	for _, good := range []string{
		"a", "notes.txt", "a/b/c", ".hidden", "..a", "a..b", "a b/c d", "-rf", "~", "$HOME", "%2e%2e", "e\u0301", "\u00e9", "\u202egnp.exe",
		"console", "com", "com10", "lpt", "nulls", "a.nul", "aux-1/x", "wrun-x", "a.wrun-x", strings.Repeat("a", 255),
		strings.Repeat("a/", 511) + "bb",
	} {
		if err := toolabi.CheckWorkspacePath(good); err != nil {
			t.Errorf("%.40q is refused: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "a/../b", "../a", "a/..", `a\b`, `..\a`, `C:\a`, "C:", "C:a", "a:stream",
		`\\server\share`, "//server/share", "a\x00b", "a\nb", "a\x1bb", "a\x7f", "a\u0085b", "a.", "a ", "a./b", "a /b", "...", " ",
		"NUL", "nul", "Con.txt", "aux.tar.gz", "COM1", "com9.log", "LPT1", "a/prn/b", "nul .txt", "CONIN$", "conout$", "com\u00b9", "LPT\u00b3.x", "COM0",
		".wrun-x", ".WRUN-x", "a/.wrun-", "a/.Wrun-b/c", "a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "a\xffb", "\xc0\xae\xc0\xae/a",
		strings.Repeat("a", 256), strings.Repeat("a/", 512) + "b",
	} {
		if toolabi.CheckWorkspacePath(bad) == nil {
			t.Errorf("%.40q is accepted", bad)
		}
	}
}

// FuzzWorkspacePath holds what is accepted against what any system makes of it.
func FuzzWorkspacePath(f *testing.F) {
	for _, seed := range []string{
		"a/b", "../a", `..\a`, "C:a", "a/./b", "nul", "COM1.txt", "a\u0085", ".wrun-1", "a. /b", "\\\\?\\C:\\x", "a/..//b", "con\u0130", "\u212a",
		strings.Repeat("x/", 500), "CONIN$", "com\u00b2.a", "e\u0301", "%2e%2e/%2e", "\u2024\u2024/a", "\uff0e\uff0e/a", "a\u2215b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if toolabi.CheckWorkspacePath(p) != nil {
			return
		}
		if !utf8.ValidString(p) || len(p) > toolabi.MaxWorkspacePath {
			t.Fatalf("%q is accepted", p)
		}
		if path.Clean(p) != p || path.IsAbs(p) || !filepath.IsLocal(filepath.FromSlash(p)) {
			t.Fatalf("%q leaves the directory, or is another path than it seems", p)
		}
		if escapesOnWindows(p) {
			t.Fatalf("%q is something else on Windows", p)
		}
		for name := range strings.SplitSeq(p, "/") {
			if !toolabi.IsWorkspaceName(name) {
				t.Fatalf("%q is no name, and a part of the path %q", name, p)
			}
			if len(name) > 255 || len(name) >= 6 && strings.ToLower(name[:6]) == ".wrun-" {
				t.Fatalf("%q has the name %q", p, name)
			}
		}
	})
}

// escapesOnWindows is what Windows makes of a path: both slashes part it, a colon names a drive or a stream, dots and spaces at the
// end of a name are dropped, some names are devices, and some characters are in no name.
func escapesOnWindows(p string) bool {
	if strings.ContainsAny(p, ":<>\"|?*") {
		return true
	}
	names := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
	if strings.Join(names, "/") != p {
		return true
	}
	for _, name := range names {
		kept := strings.TrimRight(name, ". ")
		if kept != name || kept == "" {
			return true
		}
		for _, r := range name {
			if r < 0x20 {
				return true
			}
		}
		base := strings.ToLower(strings.TrimRight(strings.SplitN(name, ".", 2)[0], " "))
		for _, device := range []string{"con", "prn", "aux", "nul", "conin$", "conout$"} {
			if base == device {
				return true
			}
		}
		for _, port := range []string{"com", "lpt"} {
			if rest, ok := strings.CutPrefix(base, port); ok && (len(rest) == 1 && rest[0] >= '0' && rest[0] <= '9' || rest == "\u00b9" || rest == "\u00b2" || rest == "\u00b3") {
				return true
			}
		}
	}
	return false
}
