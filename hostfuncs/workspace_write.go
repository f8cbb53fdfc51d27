package hostfuncs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/wrun-dev/wrun/toolabi"
)

// workspaceWriteFunc makes workspace_write.
func workspaceWriteFunc() Func {
	f := Handle(toolabi.FuncWorkspaceWrite, toolabi.Effect,
		func(ctx context.Context, c Call, req toolabi.WorkspaceWriteRequest) (reply toolabi.WorkspaceWriteReply, err error) {
			if err := checkWrite(c, req); err != nil {
				return reply, err
			}
			if c.Artifacts == nil {
				return reply, toolabi.NewError(toolabi.Unsupported, toolabi.FuncWorkspaceWrite+": this host keeps no artifacts, and so no versions of files")
			}
			w, err := openWorkspace(c, toolabi.FuncWorkspaceWrite)
			if err != nil {
				return reply, err
			}
			defer w.close()
			reply, err = w.write(ctx, c, req)
			return reply, w.failed(req.Path, err)
		})
	f.Bulky = true // what it asks for is what it makes
	f.ShowReply = shownFile(func(r toolabi.WorkspaceWriteReply) any {
		return struct {
			Path     string `json:"path"`
			Artifact string `json:"artifact"`
			Size     uint64 `json:"size"`
		}{r.Path, r.Artifact, r.Size}
	})
	f.Check = judged(toolabi.FuncWorkspaceWrite, checkWrite)
	f.Describe = describedFile(func(req toolabi.WorkspaceWriteRequest) string { return req.Path })
	return f
}

func checkWrite(c Call, req toolabi.WorkspaceWriteRequest) error {
	if err := mayUseFiles(c, toolabi.FuncWorkspaceWrite, req.Path, true); err != nil {
		return err
	}
	const function = toolabi.FuncWorkspaceWrite
	_, isArtifact := toolabi.ParseDigest(req.Artifact)
	_, isDigest := toolabi.ParseDigest(req.Expect)
	switch {
	case len(req.Body) > toolabi.MaxWorkspacePart:
		return tooLargef("%s: %d bytes, at most %d are written at a time", function, len(req.Body), toolabi.MaxWorkspacePart)
	case req.Artifact != "" && len(req.Body) > 0:
		return invalidf("%s: there is a body and an artifact, and the file can hold one of them", function)
	case req.Artifact != "" && !isArtifact:
		return invalidf("%s: %s is no artifact: want 64 lower-case hexadecimal digits", function, shownPath(req.Artifact))
	case req.Expect != "" && req.Expect != toolabi.WorkspaceAbsent && !isDigest:
		return invalidf("%s: %s cannot be expected: want 64 lower-case hexadecimal digits or %q", function, shownPath(req.Expect), toolabi.WorkspaceAbsent)
	}
	return nil
}

// write keeps the version as an artifact and then makes the file hold it. When it is done again, after it was cut off wherever,
// the same comes of it.
func (w *workspace) write(ctx context.Context, c Call, req toolabi.WorkspaceWriteRequest) (reply toolabi.WorkspaceWriteReply, err error) {
	temp := tempOf(req.Path, c.Key+"\x00"+c.Run+"\x00"+c.Step)
	_ = w.root.Remove(temp) // of an attempt that was cut off
	want, _ := toolabi.ParseDigest(req.Artifact)
	if req.Artifact == "" {
		want = toolabi.DigestOf(req.Body)
	}
	if _, err := w.judge(ctx, req, want); err != nil {
		return reply, err
	}
	version, size, err := w.version(ctx, c, req, want)
	if err != nil {
		return reply, err
	}
	defer version.Close()
	mode, err := w.judge(ctx, req, want) // that took time
	if err != nil {
		return reply, err
	}
	if err := w.place(ctx, placing{path: req.Path, temp: temp, mode: mode, from: version, size: size, allow: c.BeforeSend}); err != nil {
		return reply, err
	}
	return toolabi.WorkspaceWriteReply{Path: req.Path, Artifact: want.String(), Size: uint64(size)}, nil
}

// version returns the bytes to write, which are an artifact of the run by then.
func (w *workspace) version(ctx context.Context, c Call, req toolabi.WorkspaceWriteRequest, want toolabi.Digest) (io.ReadCloser, int64, error) {
	if req.Artifact != "" {
		r, size, err := c.Artifacts.Open(ctx, want)
		if err != nil {
			return nil, 0, err
		}
		if err := roomForFile(ctx, c, req.Path, uint64(size)); err != nil {
			return nil, 0, errors.Join(err, r.Close())
		}
		return r, size, nil
	}
	if err := roomForFile(ctx, c, req.Path, uint64(len(req.Body))); err != nil {
		return nil, 0, err
	}
	_, have, err := findArtifact(ctx, c, want)
	if err == nil && !have {
		err = roomForVersions(ctx, c, 1, len(req.Body)) // so that nothing is stored in vain
	}
	if err != nil {
		return nil, 0, err
	}
	got, size, err := c.Artifacts.Put(ctx, bytes.NewReader(req.Body))
	if err == nil && got != want {
		err = fmt.Errorf("%s: the artifact was stored as %s, and is %s", w.function, got, want)
	}
	if err == nil {
		err = roomForVersions(ctx, c, 0, 0) // others may have been faster
	}
	return io.NopCloser(bytes.NewReader(req.Body)), size, err
}

// judge says whether a file may be written now, and with which permissions: those it has, of what is there, without what would
// let others act as its owner.
func (w *workspace) judge(ctx context.Context, req toolabi.WorkspaceWriteRequest, want toolabi.Digest) (fs.FileMode, error) {
	info, err := w.root.Lstat(req.Path)
	switch {
	case isAbsent(err) && !isNotDir(err):
		if req.Expect != "" && req.Expect != toolabi.WorkspaceAbsent {
			return 0, w.conflict(req.Path, "is not there")
		}
		return 0o600, nil
	case err != nil:
		return 0, err
	case info.Mode()&fs.ModeSymlink != 0:
		if req.Expect != "" {
			return 0, w.conflict(req.Path, "is a link")
		}
		return 0o600, nil // the link is replaced
	case !info.Mode().IsRegular():
		return 0, w.denied(req.Path, notAFile(info.Mode()))
	case req.Expect == "":
		return info.Mode().Perm(), nil
	}
	is, err := w.digest(ctx, req.Path)
	switch {
	case err != nil:
		return 0, err
	case is != want && req.Expect == toolabi.WorkspaceAbsent:
		return 0, w.conflict(req.Path, "is there already")
	case is != want && is.String() != req.Expect:
		return 0, w.conflict(req.Path, "is not as expected, its digest is "+is.String())
	}
	return info.Mode().Perm(), nil
}

func (w *workspace) conflict(path, why string) error {
	return toolabi.NewError(toolabi.Conflict, fmt.Sprintf("%s: %s %s; nothing was changed", w.function, shownPath(path), why))
}

// digest reads a regular file and returns its digest.
func (w *workspace) digest(ctx context.Context, path string) (d toolabi.Digest, err error) {
	f, err := w.openFile(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, patientReader{ctx, f}); err != nil {
		return d, err
	}
	return toolabi.Digest(h.Sum(nil)), nil
}

// patientReader ends with its context.
type patientReader struct {
	ctx context.Context
	r   io.Reader
}

func (r patientReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// roomForVersions says why a run may not have so many artifacts more, of so many bytes, beside those that it has and those that
// are being made, or nil. The same bytes count once.
func roomForVersions(ctx context.Context, c Call, more, size int) error {
	count, used, err := c.Artifacts.Usage(ctx)
	if err != nil {
		return err
	}
	count, used = count+more, used+uint64(size)
	most := c.Grants.ArtifactBytes()
	const function = toolabi.FuncWorkspaceWrite
	switch {
	case count > toolabi.MaxArtifacts:
		return tooLargef("%s: versions of files are artifacts, and the run would have %d of them; at most %d are allowed", function, count, toolabi.MaxArtifacts)
	case used > most:
		return tooLargef("%s: versions of files are artifacts, and those of the run would have %d bytes; at most %d are allowed", function, used, most)
	}
	return nil
}

// roomForFile says why a run may not have a file of so many bytes beside its others, or nil. Versions of the same bytes count once,
// and files do not: each of them is on the disk.
func roomForFile(ctx context.Context, c Call, path string, size uint64) error {
	if c.Files == nil {
		return nil
	}
	count, used, err := c.Files(ctx, path)
	const function = toolabi.FuncWorkspaceWrite
	switch most := c.Grants.ArtifactBytes(); {
	case err != nil:
		return err
	case count >= toolabi.MaxArtifacts:
		return tooLargef("%s: the run has %d other files, and may have no more", function, count)
	case used > most || size > most-used:
		return tooLargef("%s: the run's files would have %d bytes; at most %d are allowed", function, used+size, most)
	}
	return nil
}
