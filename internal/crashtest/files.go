package crashtest

import (
	"errors"
	"io/fs"
	"os"

	"github.com/wrun-dev/wrun/toolabi"
)

// FileDigests are the digests of the regular files below a directory, by path; none where it is not there.
func FileDigests(dir string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	digests := map[string]string{}
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := root.ReadFile(path)
		digests[path] = toolabi.DigestOf(b).String()
		return err
	})
	return digests, err
}
