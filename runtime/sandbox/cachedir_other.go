//go:build !unix

package sandbox

import "io/fs"

// checkPrivate relies on what the directory inherits: below the user's own profile nobody else may write.
func checkPrivate(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return refuseCache(dir, info, "it is not a directory")
	}
	return nil
}
