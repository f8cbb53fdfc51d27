package hostfuncs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// workspaceReadFunc makes workspace_read.
func workspaceReadFunc() Func {
	check := func(c Call, req toolabi.WorkspaceReadRequest) error {
		if err := mayUseFiles(c, toolabi.FuncWorkspaceRead, req.Path, false); err != nil {
			return err
		}
		if req.Length > toolabi.MaxWorkspacePart {
			return toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("%s: %d bytes are wanted, at most %d are read at a time",
				toolabi.FuncWorkspaceRead, req.Length, toolabi.MaxWorkspacePart))
		}
		return nil
	}
	f := Handle(toolabi.FuncWorkspaceRead, toolabi.Read,
		func(ctx context.Context, c Call, req toolabi.WorkspaceReadRequest) (reply toolabi.WorkspaceReadReply, err error) {
			if err := check(c, req); err != nil {
				return reply, err
			}
			w, err := openWorkspace(c, toolabi.FuncWorkspaceRead)
			if err != nil {
				return reply, err
			}
			defer w.close()
			reply, err = w.read(ctx, req)
			return reply, w.failed(req.Path, err)
		})
	f.Check = judged(toolabi.FuncWorkspaceRead, check)
	f.Describe = describedFile(func(req toolabi.WorkspaceReadRequest) string { return req.Path })
	return f
}

// tries is how often a file is read that changes meanwhile.
const tries = 5

// errChanging says that a file was changed while it was read.
var errChanging = errors.New("it changes while it is read")

func (w *workspace) read(ctx context.Context, req toolabi.WorkspaceReadRequest) (reply toolabi.WorkspaceReadReply, err error) {
	f, err := w.openFile(req.Path)
	if isAbsent(err) {
		return reply, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("%s: %s is not there", w.function, shownPath(req.Path)))
	}
	if err != nil {
		return reply, err
	}
	defer f.Close()
	for range tries {
		if err := ctx.Err(); err != nil {
			return reply, err
		}
		reply, err = readStill(f, req)
		if !errors.Is(err, errChanging) {
			return reply, err
		}
	}
	e := toolabi.NewError(toolabi.Conflict, fmt.Sprintf("%s: %s is being changed by somebody else", w.function, shownPath(req.Path)))
	e.Retry = toolabi.RetrySafe
	return reply, e
}

// openFile opens a regular file, through links within the workspace. What is there is looked at first, because the opening alone
// of a device can do something, and once more when it is open.
func (w *workspace) openFile(path string) (*os.File, error) {
	info, err := w.root.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, w.denied(path, notAFile(info.Mode()))
	}
	f, err := w.root.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = w.denied(path, notAFile(info.Mode()))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// readStill reads a part of a file as it is at one moment. Errors: errChanging.
func readStill(f *os.File, req toolabi.WorkspaceReadRequest) (reply toolabi.WorkspaceReadReply, err error) {
	before, err := f.Stat()
	if err != nil {
		return reply, err
	}
	size := uint64(before.Size())
	body := make([]byte, partOf(size, req.Offset, req.Length))
	if err := readFull(f, body, req.Offset); err != nil {
		return reply, err
	}
	after, err := f.Stat()
	switch {
	case err != nil:
		return reply, err
	case after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()):
		return reply, errChanging
	case isFresh(after):
		if err := sameAgain(f, body, req.Offset); err != nil {
			return reply, err
		}
	}
	reply.Body, reply.Size = body, size
	if uint64(len(body)) == size {
		reply.Digest = toolabi.DigestOf(body).String()
	}
	return reply, nil
}

// partOf is how many bytes are read of a file.
func partOf(size, offset, length uint64) uint64 {
	if offset >= size || offset > math.MaxInt64 {
		return 0
	}
	if length == 0 {
		length = toolabi.MaxWorkspacePart
	}
	return min(length, size-offset, toolabi.MaxWorkspacePart)
}

func readFull(f *os.File, body []byte, offset uint64) error {
	if len(body) == 0 {
		return nil
	}
	n, err := f.ReadAt(body, int64(offset))
	if n == len(body) {
		return nil
	}
	if err == io.EOF { // it was shorter by then
		return errChanging
	}
	return err
}

// isFresh says that a file was changed so recently that another change could bear the same time.
func isFresh(info fs.FileInfo) bool { return time.Since(info.ModTime()) < 2*time.Second }

// sameAgain reads what was read once more. Errors: errChanging.
func sameAgain(f *os.File, body []byte, offset uint64) error {
	again := make([]byte, 64<<10)
	for at := 0; at < len(body); at += len(again) {
		part := again[:min(len(again), len(body)-at)]
		if err := readFull(f, part, offset+uint64(at)); err != nil {
			return err
		}
		if !bytes.Equal(part, body[at:at+len(part)]) {
			return errChanging
		}
	}
	return nil
}
