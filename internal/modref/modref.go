// Package modref reads where a module comes from, as plans, the files of agents and command lines say it: a file, or the name
// under which the operator added it. The answer depends on the words alone, never on which files there are. It opens nothing.
package modref

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	moduleName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
	toolName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// IsModule says whether s can be the name of a module.
func IsModule(s string) bool { return moduleName.MatchString(s) }

// IsTool says whether s can be the full name of a tool, "module.tool".
func IsTool(s string) bool {
	module, tool, _ := strings.Cut(s, ".")
	return IsModule(module) && toolName.MatchString(tool)
}

// Source says where a module comes from.
type Source struct {
	// Name is the module's name in the file that says so, the part of "module.tool" before the dot.
	Name string
	// File is a path with forward slashes, relative to the directory of that file and not leading out of it. That nothing on
	// the way is a symbolic link that leads out is for whoever opens it to check. "" when Added is not.
	File string
	// Added is the name of a module that the operator has added, where no file is named: one that has no / in it and does not
	// end in .wasm or .wrun.tar.
	Added string
	// Line is where the file says so, from 1.
	Line int
}

// Read reads the words that say where a module comes from, in a file that is called of, such as "the plan"; wrong says what is
// wrong with them, and is "" when nothing is.
func Read(of, name, words string, line int) (s Source, wrong string) {
	s = Source{Name: name, Line: line}
	switch bad := CheckFile(of, words); {
	case bad != "":
		return s, fmt.Sprintf("the file %.120q %s", words, bad)
	case IsFile(words):
		s.File = words
	case IsModule(words):
		s.Added = words
	default:
		return s, fmt.Sprintf("%.120q is neither a file, which has a / in it or .wasm at its end, nor the name of a module that was added", words)
	}
	return s, ""
}

// IsFile says whether a source, in a file or on a command line, is a file, and not the name of a module that was added:
// whichever files there are.
func IsFile(source string) bool {
	lower := strings.ToLower(source)
	return strings.ContainsAny(source, `/\`) || strings.HasSuffix(lower, ".wasm") || strings.HasSuffix(lower, PackageSuffix)
}

// PackageSuffix is what the name of a package of a tool ends in.
const PackageSuffix = ".wrun.tar"

// CheckFile says what is wrong with a reference to a file beside the one that it stands in, which is called of, or "". The answer
// is the same on every system.
func CheckFile(of, file string) string {
	switch {
	case len(file) > 1024:
		return "has more than 1024 bytes"
	case strings.ContainsFunc(file, unicode.IsControl):
		return "has a control character in it"
	case strings.Contains(file, `\`):
		return "has a backslash in it; write / between directories"
	case strings.HasPrefix(file, "/"):
		return "is absolute; it has to be relative to " + of
	case strings.Contains(file, ":"):
		return "has a colon in it; it has to be a path relative to " + of
	case slices.Contains(strings.Split(file, "/"), ".."):
		return "leads out of " + of + "'s directory"
	case strings.HasSuffix(file, "/"), file == ".":
		return "is a directory"
	}
	return ""
}
