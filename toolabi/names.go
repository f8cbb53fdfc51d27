package toolabi

import (
	"regexp"
	"sync"
)

// maxName is the longest name of a module, a directory or a tool, in bytes.
const maxName = 64

// IsModuleName says whether a module, or a store of keys and values, can have this name.
func IsModuleName(name string) bool {
	return len(name) > 0 && len(name) <= maxName && name[0] != '-' && name[len(name)-1] != '-' && lowerOr('-', name)
}

// IsDirName says whether a directory can have this name.
func IsDirName(name string) bool { return IsModuleName(name) }

// isToolName says whether a tool can have this name.
func isToolName(name string) bool {
	return len(name) > 0 && len(name) <= maxName && 'a' <= name[0] && name[0] <= 'z' && lowerOr('_', name)
}

// lowerOr says whether name has nothing but lower-case letters, digits and one other byte.
func lowerOr(other byte, name string) bool {
	for _, b := range []byte(name) {
		if b != other && (b < 'a' || b > 'z') && (b < '0' || b > '9') {
			return false
		}
	}
	return true
}

// semver is made when a manifest is validated: a guest links it, never needs it in a call, and would make it each time it starts.
var semver = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)
})

// isVersion says whether a module can have this version.
func isVersion(version string) bool { return semver().MatchString(version) }
