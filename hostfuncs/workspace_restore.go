package hostfuncs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// LostVersionError says that a version of a file, which a run's log names, cannot be read any more.
type LostVersionError struct {
	Path     string
	Artifact toolabi.Digest
	Err      error
}

// Error says which and why.
func (e *LostVersionError) Error() string {
	return fmt.Sprintf("%s was written as artifact %s, which cannot be read: %v", shownPath(e.Path), e.Artifact.Short(), e.Err)
}

// Unwrap returns the cause.
func (e *LostVersionError) Unwrap() error { return e.Err }

// RestoreWorkspace brings the directory of a run's files to what the run's log says of them, so that a run which is resumed
// elsewhere has its files. versions are what the run has written and removed so far, in that order. A file that is not there is
// written back; one that holds an older version of this run is brought up to date, or removed where the run removed it. What holds
// anything else was changed by somebody on purpose: it is left, and among left. Where g does not let files be changed, all that is
// not as the log says is left.
//
// It may be cut off anywhere, and done again. Errors: *WorkspaceError; *LostVersionError.
func RestoreWorkspace(ctx context.Context, g WorkspaceGrant, run string, versions []Version, from Artifacts) (left []string, err error) {
	root, err := g.openRoot()
	if err != nil {
		return nil, err
	}
	w := &workspace{root: root, function: "restore"}
	defer w.close()
	files := map[string]*past{}
	for _, v := range versions {
		if toolabi.CheckWorkspacePath(v.Path) != nil {
			return nil, &WorkspaceError{Path: g.Path, File: shownPath(v.Path), Err: errors.New("the log names a file that cannot be one")}
		}
		files[v.Path] = files[v.Path].add(v)
	}
	for _, removed := range []bool{true, false} { // first what was removed: a directory may have its name by now
		for _, path := range slices.Sorted(maps.Keys(files)) {
			p := files[path]
			if p.last.Removed != removed {
				continue
			}
			r := restoring{workspace: w, past: p, run: run, from: from, write: g.Write}
			ok, err := r.restore(ctx)
			var lost *LostVersionError
			switch {
			case errors.As(err, &lost), ctx.Err() != nil:
				return left, err
			case err != nil:
				return left, &WorkspaceError{Path: g.Path, File: shownPath(path), Err: err}
			case !ok:
				left = append(left, path)
			}
		}
	}
	return left, nil
}

// past is what a run made of one file.
type past struct {
	last    Version
	written map[toolabi.Digest]bool // every version that it wrote
}

func (p *past) add(v Version) *past {
	if p == nil {
		p = &past{written: map[toolabi.Digest]bool{}}
	}
	if p.last = v; !v.Removed {
		p.written[v.Artifact] = true
	}
	return p
}

// restoring is one file while it is brought to its last version.
type restoring struct {
	*workspace
	*past
	run   string
	from  Artifacts
	write bool
}

// restore brings a file to its last version. ok says that it holds that now.
func (r restoring) restore(ctx context.Context) (ok bool, err error) {
	path := r.last.Path
	temp := tempOf(path, "restore\x00"+r.run+"\x00"+path)
	if r.write {
		_ = r.root.Remove(temp) // of a process that was cut off
	}
	info, err := r.root.Lstat(path)
	switch {
	case isAbsent(err) && (r.last.Removed || isNotDir(err)):
		return r.last.Removed, nil
	case isAbsent(err):
		return r.put(ctx, temp, 0o600)
	case err != nil:
		return r.leave(err)
	case !info.Mode().IsRegular():
		return r.last.Removed && info.IsDir(), nil // no file, then
	}
	is, err := r.digest(ctx, path)
	switch {
	case err != nil:
		return r.leave(err)
	case !r.last.Removed && is == r.last.Artifact:
		return true, nil
	case !r.written[is] || !r.write:
		return false, nil
	case r.last.Removed:
		err := r.remove(path, nil)
		return err == nil, err
	}
	return r.put(ctx, temp, info.Mode().Perm())
}

// put writes the last version.
func (r restoring) put(ctx context.Context, temp string, mode fs.FileMode) (bool, error) {
	if !r.write {
		return false, nil
	}
	body, size, err := r.from.Open(ctx, r.last.Artifact)
	if err != nil {
		return false, &LostVersionError{Path: r.last.Path, Artifact: r.last.Artifact, Err: err}
	}
	defer body.Close()
	source := &watched{r: body}
	err = r.place(ctx, placing{path: r.last.Path, temp: temp, mode: mode, from: source, size: size})
	if source.err != nil {
		return false, &LostVersionError{Path: r.last.Path, Artifact: r.last.Artifact, Err: source.err}
	}
	if err != nil {
		return r.leave(err)
	}
	return true, nil
}

// leave says of what stands in the way of a file that it is left: a link out of the workspace, a file where a directory was.
// Anything else is an error.
func (r restoring) leave(err error) (bool, error) {
	if err = r.failed(r.last.Path, err); errors.Is(err, toolabi.Denied) {
		return false, nil
	}
	return false, err
}

// watched remembers how the reading of an artifact ended, apart from how the writing of a file did.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}
