package hostfuncs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/wrun-dev/wrun/toolabi"
)

// detailNoSpace is the Detail of an error for lack of space on the host.
const detailNoSpace = "no_space"

// fileErrors are the errors of a file system and what a tool is told of them; the first that fits counts. The names of the
// syscall package come first, since what they say is narrower.
var fileErrors = []struct {
	err  error
	code toolabi.Code
	why  string
}{
	{syscall.ENOTDIR, toolabi.Denied, "has a part that is no directory"},
	{syscall.EISDIR, toolabi.Denied, "is a directory"},
	{syscall.ELOOP, toolabi.Denied, "leads through too many links"},
	{syscall.ENAMETOOLONG, toolabi.Invalid, "is too long for this file system"},
	{syscall.EINVAL, toolabi.Invalid, "cannot be a path on this file system"},
	{syscall.EILSEQ, toolabi.Invalid, "cannot be a path on this file system"},
	{syscall.ENOSPC, toolabi.Unavailable, "does not fit, there is no space left"},
	{syscall.EDQUOT, toolabi.Unavailable, "does not fit, the host's quota is used up"},
	{syscall.EFBIG, toolabi.TooLarge, "is larger than this file system can hold"},
	{syscall.EROFS, toolabi.Denied, "is on a file system that cannot be written to"},
	{syscall.EPERM, toolabi.Denied, "is not wrun's to change"},
	{fs.ErrPermission, toolabi.Denied, "may not be used by the user that wrun runs as"},
	{fs.ErrNotExist, toolabi.NotFound, "is not there"},
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// failed is an error of the file system as a tool is told it. Nothing of the host's own paths is in it.
func (w *workspace) failed(path string, err error) error {
	var known *toolabi.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for _, e := range fileErrors {
		if !errors.Is(err, e.err) {
			continue
		}
		told := toolabi.NewError(e.code, fmt.Sprintf("%s: %s %s", w.function, shownPath(path), e.why))
		if e.code == toolabi.Unavailable {
			told.Retry, told.Detail = toolabi.RetrySafe, detailNoSpace
		}
		return told
	}
	var system syscall.Errno
	if errors.As(err, &system) {
		return unavailable(fmt.Sprintf("%s: %s: %s", w.function, shownPath(path), cleanReason(err)))
	}
	if bare(err) == err { // not from the file system at all
		return err
	}
	return w.denied(path, "leads out of the workspace") // os.Root's own word
}

// unavailable is the error for what the system cannot do now.
func unavailable(text string) *toolabi.Error {
	e := toolabi.NewError(toolabi.Unavailable, text)
	e.Retry = toolabi.RetrySafe
	return e
}

// mayHaveHappened is an error of what came behind the one moment in which a name changes.
func mayHaveHappened(err error) error {
	var known *toolabi.Error
	if !errors.As(err, &known) {
		return err
	}
	told := *known
	told.Effect = toolabi.EffectUnknown
	return &told
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
