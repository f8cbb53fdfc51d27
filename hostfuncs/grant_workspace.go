package hostfuncs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// ParseWorkspace reads a grant of the workspace as people write it: a directory, with :ro behind it if its files may not be
// changed, or :rw. A relative path counts from the directory of the process.
func ParseWorkspace(s string) (WorkspaceGrant, error) {
	path, readOnly := strings.CutSuffix(s, ":ro")
	if !readOnly {
		path, _ = strings.CutSuffix(path, ":rw")
	}
	switch {
	case path == "":
		return WorkspaceGrant{}, errors.New("which directory? want DIR, with :ro behind it if its files may not be changed")
	case !utf8.ValidString(path) || strings.ContainsRune(path, 0) || len(path) > maxDirPath:
		return WorkspaceGrant{}, fmt.Errorf("want a path in UTF-8 without NUL, at most %d bytes", maxDirPath)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return WorkspaceGrant{}, err
	}
	return WorkspaceGrant{Path: abs, Write: !readOnly}, nil
}

// String returns the grant in the form of ParseWorkspace, with what may be done in any case: a path may end in :ro.
func (w WorkspaceGrant) String() string {
	if w.Write {
		return w.Path + ":rw"
	}
	return w.Path + ":ro"
}
