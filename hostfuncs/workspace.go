package hostfuncs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

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

// openRoot opens the directory of a grant, and makes it if it is not there: for its owner alone. A link at the path itself is
// followed, since the operator named it; a pipe is not opened, since that could wait. Errors: *WorkspaceError.
func (g WorkspaceGrant) openRoot() (*os.Root, error) {
	if !filepath.IsAbs(g.Path) || filepath.Clean(g.Path) != g.Path {
		return nil, &WorkspaceError{Path: g.Path, Err: errors.New("the path is not absolute and clean")}
	}
	info, err := os.Stat(g.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = makeDurably(g.Path)
	case err == nil && !info.IsDir():
		err = errors.New("it is no directory")
	}
	if err != nil {
		return nil, &WorkspaceError{Path: g.Path, Err: bare(err)}
	}
	root, err := os.OpenRoot(g.Path)
	if err != nil {
		return nil, &WorkspaceError{Path: g.Path, Err: bare(err)}
	}
	return root, nil
}

// CheckEmpty says why a directory is not empty, or not one that could be made, or nil. Errors: *WorkspaceError.
func (g WorkspaceGrant) CheckEmpty() error {
	if _, err := os.Lstat(g.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	root, err := g.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	d, err := root.Open(".")
	if err != nil {
		return &WorkspaceError{Path: g.Path, Err: bare(err)}
	}
	defer d.Close()
	if _, err := d.Readdirnames(1); err != io.EOF {
		return &WorkspaceError{Path: g.Path, Err: errors.New("it is not empty")}
	}
	return nil
}

// makeDurably makes a directory, with those above it, so that it is there after a crash.
func makeDurably(dir string) error {
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range made {
		if err := syncPath(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

func syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(f), f.Close())
}

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

// syncDirs makes sure that what is in a directory, and the directory itself, will be there after a crash. Those above it count as
// well: who made them may have died before it got here.
func (w *workspace) syncDirs(dir string) error {
	var names []string
	if dir != "." {
		names = strings.Split(dir, "/")
	}
	r, err := w.root.OpenRoot(".")
	for i := 0; err == nil; i++ {
		if err = syncRoot(r); err != nil || i == len(names) {
			return errors.Join(err, r.Close())
		}
		below, failed := r.OpenRoot(names[i] + "/.")
		if failed != nil { // a link, perhaps, which leads to somewhere else in the workspace
			below, failed = w.root.OpenRoot(path.Join(names[:i+1]...) + "/.")
		}
		_ = r.Close()
		r, err = below, failed
	}
	return err
}

func syncRoot(r *os.Root) error {
	f, err := r.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(syncDir(f), f.Close())
}

// tempOf is the name, in the directory of path, of the file that becomes path. It is the same when it is done again, so that
// nothing is left of a write that was cut off.
func tempOf(p, key string) string {
	return path.Join(parent(p), toolabi.WorkspaceTemp+toolabi.DigestOf([]byte(key)).String()[:32])
}

// isAbsent says that there is no such file: also where a part of its path is a file itself.
func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotDir(err) }

// cleanReason is the text of an error of the system, without what Go says around it.
func cleanReason(err error) string { return strings.ToValidUTF8(bare(err).Error(), "\uFFFD") }

// bare returns an error of the file system without the path that it was about.
func bare(err error) error {
	var of *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		return of.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// judged makes a Check of a judgement of decoded requests.
func judged[Req any](function string, check func(Call, Req) error) func(Call, []byte) error {
	return func(c Call, raw []byte) error {
		var req Req
		if err := toolabi.Decode(raw, &req); err != nil {
			return invalidf("%s: %v", function, err)
		}
		return check(c, req)
	}
}

// described makes a Describe of what a decoded request is about.
func described[Req any](about func(Req) string) func([]byte) string {
	return func(raw []byte) string {
		var req Req
		if toolabi.Decode(raw, &req) != nil {
			return ""
		}
		return DescribeFile(about(req))
	}
}

// DescribeFile is a path as it is written into logs, for people.
func DescribeFile(path string) string { return toolabi.CleanLine(path, 200) }
