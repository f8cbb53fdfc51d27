package hostfuncs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/wrun-dev/wrun/toolabi"
)

// workspace is the directory of a run's files, while one request is answered. Every path goes through one os.Root, so that
// nothing outside of it is reached, whatever is in it and whoever changes it meanwhile. It is opened for each request: nothing of
// it is kept in memory that the directory could not say itself.
type workspace struct {
	root     *os.Root
	function string // for errors; "" outside of a function
}

// WorkspaceError says that the directory of a run's files cannot be used now.
type WorkspaceError struct {
	// Path is the directory on the host, File what in it the error is about; "" for the directory itself.
	Path, File string
	Err        error
}

// Error says which and why.
func (e *WorkspaceError) Error() string {
	if e.File != "" {
		return fmt.Sprintf("workspace %s: %s: %v", e.Path, e.File, e.Err)
	}
	return fmt.Sprintf("workspace %s cannot be used: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *WorkspaceError) Unwrap() error { return e.Err }

// openWorkspace opens the directory that is granted to c. The caller closes it.
func openWorkspace(c Call, function string) (*workspace, error) {
	root, err := c.Grants.Workspace.openRoot()
	if err != nil { // without the host's name for it, which is recorded nowhere
		return nil, unavailable(fmt.Sprintf("%s: the workspace cannot be used now: %v", function, errors.Unwrap(err)))
	}
	return &workspace{root: root, function: function}, nil
}

func (w *workspace) close() { _ = w.root.Close() }

// mayUseFiles judges the grant and the path of a request, before anything is opened.
func mayUseFiles(c Call, function, path string, write bool) error {
	switch g := c.Grants.Workspace; {
	case g.Path == "":
		return ungranted(c, function, "a workspace", "--workspace DIR")
	case write && !g.Write:
		return ungranted(c, function, "writing to the workspace", "--workspace DIR, without :ro")
	}
	if err := toolabi.CheckWorkspacePath(path); err != nil {
		return invalidf("%s: %s is no path in the workspace: %v", function, shownPath(path), err)
	}
	return nil
}

// shownPath is a path as an error shows it.
func shownPath(path string) string { return fmt.Sprintf("%q", toolabi.CleanLine(path, 200)) }

// denied is the error for what is there and may not be used.
func (w *workspace) denied(path, why string) error {
	return toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s: %s %s", w.function, shownPath(path), why))
}

// kindOf is what toolabi.WorkspaceFile calls it.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "dir"
	case mode&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

// notAFile says what stands where a file should be.
func notAFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "is a directory"
	case mode&fs.ModeSymlink != 0:
		return "is a link"
	}
	return "is no regular file"
}

// parent is the directory that a path is in; "." for the workspace itself.
func parent(p string) string { return path.Dir(p) }

// tempOf is the name, in the directory of path, of the file that becomes path. It is the same when it is done again, so that
// nothing is left of a write that was cut off.
func tempOf(p, key string) string {
	return path.Join(parent(p), toolabi.WorkspaceTemp+toolabi.DigestOf([]byte(key)).String()[:32])
}

// describedFile makes a Describe of a request about a file.
func describedFile[Req any](path func(Req) string) func([]byte) string {
	return described(func(req Req) string { return DescribeFile(path(req)) })
}

// DescribeFile is a path as it is written into logs, for people.
func DescribeFile(path string) string { return toolabi.CleanLine(path, 200) }

// shownFile makes a ShowRequest or a ShowReply as shown does, without a line end.
func shownFile[Msg any](form func(Msg) any) func([]byte) ([]byte, error) {
	return func(raw []byte) ([]byte, error) {
		var msg Msg
		if err := toolabi.Decode(raw, &msg); err != nil {
			return nil, err
		}
		return json.Marshal(form(msg))
	}
}
