package hostfuncs

import (
	"context"
	"io/fs"

	"github.com/wrun-dev/wrun/toolabi"
)

// workspaceRemoveFunc makes workspace_remove.
func workspaceRemoveFunc() Func {
	check := func(c Call, req toolabi.WorkspaceRemoveRequest) error {
		return mayUseFiles(c, toolabi.FuncWorkspaceRemove, req.Path, true)
	}
	f := Handle(toolabi.FuncWorkspaceRemove, toolabi.Effect,
		func(_ context.Context, c Call, req toolabi.WorkspaceRemoveRequest) (reply toolabi.WorkspaceRemoveReply, err error) {
			if err := check(c, req); err != nil {
				return reply, err
			}
			w, err := openWorkspace(c, toolabi.FuncWorkspaceRemove)
			if err != nil {
				return reply, err
			}
			defer w.close()
			reply.Path = req.Path
			return reply, w.failed(req.Path, w.remove(req.Path, c.BeforeSend))
		})
	f.ShowRequest = shownFile(func(r toolabi.WorkspaceRemoveRequest) any { return removedFile{r.Path} })
	f.ShowReply = shownFile(func(r toolabi.WorkspaceRemoveReply) any { return removedFile{r.Path} })
	f.Check = judged(toolabi.FuncWorkspaceRemove, check)
	f.Describe = describedFile(func(req toolabi.WorkspaceRemoveRequest) string { return req.Path })
	return f
}

// removedFile is how a removal is shown, asked for and answered.
type removedFile struct {
	Path string `json:"path"`
}

// remove removes a file, or a link itself, so that it is gone after a crash. What is not there may have been removed by an attempt
// that was cut off before that was sure.
func (w *workspace) remove(path string, allow func() error) error {
	info, err := w.root.Lstat(path)
	switch {
	case isAbsent(err):
		if err := w.syncDirs(parent(path)); !isAbsent(err) {
			return err
		}
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return w.denied(path, notAFile(info.Mode())+", and is not removed")
	}
	if allow != nil {
		if err := allow(); err != nil {
			return err
		}
	}
	if err := w.root.Remove(path); err != nil && !isAbsent(err) {
		return err
	}
	if err := w.syncDirs(parent(path)); err != nil {
		return mayHaveHappened(w.failed(path, err))
	}
	return nil
}
