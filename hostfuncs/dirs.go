package hostfuncs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// DirGrant is a directory of the host that programs may use. What is below it is theirs as well, and nothing beside it.
type DirGrant struct {
	// Name is what manifests ask for it by.
	Name string `cbor:"1,keyasint" json:"name"`
	// Path is where it is on the host: absolute and clean.
	Path string `cbor:"2,keyasint" json:"path"`
	// Write says that it may be changed.
	Write bool `cbor:"3,keyasint,omitempty" json:"write,omitempty"`
}

// String returns the grant in the form of ParseDir.
func (d DirGrant) String() string {
	if d.Write {
		return d.Name + "=" + d.Path + ":rw"
	}
	return d.Name + "=" + d.Path + ":ro"
}

// maxDirPath is the longest path of a directory that can be granted, in bytes.
const maxDirPath = 4096

// ParseDir reads a grant of a directory as people write it: NAME=PATH, with :ro or :rw behind it. Without one of them the
// directory may not be changed. A relative path counts from the directory of the process.
func ParseDir(s string) (DirGrant, error) {
	name, path, ok := strings.Cut(s, "=")
	if !ok {
		return DirGrant{}, fmt.Errorf("%q: want NAME=PATH, with :rw behind it if it may be written to", toolabi.CutText(s, 200))
	}
	if !toolabi.IsDirName(name) {
		return DirGrant{}, fmt.Errorf("%q is no name of a directory: want lower-case letters, digits and inner hyphens, at most 64", toolabi.CutText(name, 80))
	}
	d := DirGrant{Name: name}
	path, d.Write = strings.CutSuffix(path, ":rw")
	if !d.Write {
		path, _ = strings.CutSuffix(path, ":ro")
	}
	switch {
	case path == "":
		return DirGrant{}, fmt.Errorf("directory %s: which one? want %s=PATH", name, name)
	case !utf8.ValidString(path) || strings.ContainsRune(path, 0) || len(path) > maxDirPath:
		return DirGrant{}, fmt.Errorf("directory %s: want a path in UTF-8 without NUL, at most %d bytes", name, maxDirPath)
	}
	var err error
	if d.Path, err = filepath.Abs(path); err != nil {
		return DirGrant{}, fmt.Errorf("directory %s: %w", name, err)
	}
	return d, nil
}

// Check says why the directory cannot be used now, or nil.
func (d DirGrant) Check() error {
	if !filepath.IsAbs(d.Path) || filepath.Clean(d.Path) != d.Path {
		return fmt.Errorf("directory %s: the path %q is not absolute and clean", d.Name, toolabi.CutText(d.Path, 200))
	}
	root, err := os.OpenRoot(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("directory %s: %s is not there", d.Name, d.Path)
	case err != nil:
		return fmt.Errorf("directory %s: %w", d.Name, err)
	}
	return root.Close()
}

// Dir finds a directory by its name.
func (g Grants) Dir(name string) (DirGrant, bool) {
	for _, d := range g.Dirs {
		if d.Name == name {
			return d, true
		}
	}
	return DirGrant{}, false
}

// Mounts are the directories that a program gets: those that its manifest wants and g grants, to be changed only where both
// say so. missing are those that it wants and that are not granted.
func (g Grants) Mounts(c *toolabi.Command) (mounts []toolabi.Mount, missing []toolabi.Dir) {
	if c == nil {
		return nil, nil
	}
	for _, want := range c.Dirs {
		d, ok := g.Dir(want.Name)
		if !ok {
			missing = append(missing, want)
			continue
		}
		mounts = append(mounts, toolabi.Mount{Name: want.Name, Path: d.Path, Write: want.Write && d.Write})
	}
	return mounts, missing
}
