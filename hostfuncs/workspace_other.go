//go:build !unix

package hostfuncs

import "os"

const openFlags = 0

// syncDir does nothing: directories cannot be synced here, and the file system orders the changes of names by itself.
func syncDir(*os.File) error { return nil }
