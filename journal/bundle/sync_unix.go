//go:build !windows

package bundle

import "os"

// syncDir makes sure that the names in a directory are on the disk.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
