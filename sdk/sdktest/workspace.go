package sdktest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// files answers the functions of the workspace from World.Files, as the host does from a directory. There are no links in it, and
// nobody else who changes it.
func (s *stage) files(name string, request []byte) ([]byte, *toolabi.Error) {
	for p := range s.Files {
		if err := toolabi.CheckWorkspacePath(p); err != nil {
			s.t.Errorf("World.Files has %q, which is no path: %v", p, err)
		}
	}
	switch name {
	case toolabi.FuncWorkspaceRead:
		return handle(request, s.readFile)
	case toolabi.FuncWorkspaceWrite:
		return handle(request, s.writeFile)
	case toolabi.FuncWorkspaceList:
		return handle(request, s.listFiles)
	}
	return handle(request, s.removeFile)
}

func fileError(code toolabi.Code, format string, a ...any) error {
	return toolabi.NewError(code, fmt.Sprintf(format, a...))
}

func checkPath(p string) error {
	if err := toolabi.CheckWorkspacePath(p); err != nil {
		return fileError(toolabi.Invalid, "%q is no path in the workspace: %v", p, err)
	}
	return nil
}

// folders are the directories that there are: those that files are in, and those that were made for files that were removed since.
func (s *stage) folders() map[string]bool {
	if s.dirs == nil {
		s.dirs = map[string]bool{}
	}
	for p := range s.Files {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			s.dirs[d] = true
		}
	}
	return s.dirs
}

func (s *stage) readFile(req toolabi.WorkspaceReadRequest) (reply toolabi.WorkspaceReadReply, err error) {
	if err := checkPath(req.Path); err != nil {
		return reply, err
	}
	body, ok := s.Files[req.Path]
	switch {
	case req.Length > toolabi.MaxWorkspacePart:
		return reply, fileError(toolabi.TooLarge, "%d bytes are wanted, at most %d are read at a time", req.Length, toolabi.MaxWorkspacePart)
	case s.folders()[req.Path]:
		return reply, fileError(toolabi.Denied, "%q is a directory", req.Path)
	case !ok:
		return reply, fileError(toolabi.NotFound, "%q is not there", req.Path)
	}
	reply.Size = uint64(len(body))
	part := body[min(req.Offset, reply.Size):]
	reply.Body = part[:min(uint64(len(part)), cmp.Or(req.Length, toolabi.MaxWorkspacePart))]
	if len(reply.Body) == len(body) {
		reply.Digest = toolabi.DigestOf(body).String()
	}
	return reply, nil
}

func (s *stage) writeFile(req toolabi.WorkspaceWriteRequest) (reply toolabi.WorkspaceWriteReply, err error) {
	if err := checkWrite(req); err != nil {
		return reply, err
	}
	if s.folders()[req.Path] {
		return reply, fileError(toolabi.Denied, "%q is a directory", req.Path)
	}
	for d := path.Dir(req.Path); d != "."; d = path.Dir(d) {
		if _, ok := s.Files[d]; ok {
			return reply, fileError(toolabi.Denied, "%q has a part that is no directory", req.Path)
		}
	}
	body, kept := bytes.Clone(req.Body), true
	if req.Artifact != "" {
		body, kept = s.kept(req.Artifact)
	}
	digest := cmp.Or(req.Artifact, toolabi.DigestOf(body).String())
	if err := s.asExpected(req, digest); err != nil {
		return reply, err
	}
	if !kept {
		return reply, fileError(toolabi.NotFound, "the run has no artifact %s", req.Artifact)
	}
	if s.written == nil {
		s.written = map[string][]byte{}
	}
	s.Files[req.Path], s.written[digest] = body, body
	return toolabi.WorkspaceWriteReply{Path: req.Path, Artifact: digest, Size: uint64(len(body))}, nil
}

func checkWrite(req toolabi.WorkspaceWriteRequest) error {
	if err := checkPath(req.Path); err != nil {
		return err
	}
	_, isArtifact := toolabi.ParseDigest(req.Artifact)
	_, isDigest := toolabi.ParseDigest(req.Expect)
	switch {
	case len(req.Body) > toolabi.MaxWorkspacePart:
		return fileError(toolabi.TooLarge, "%d bytes, at most %d are written at a time", len(req.Body), toolabi.MaxWorkspacePart)
	case req.Artifact != "" && (len(req.Body) > 0 || !isArtifact):
		return fileError(toolabi.Invalid, "artifact %q: want 64 lower-case hexadecimal digits, and no body beside it", req.Artifact)
	case req.Expect != "" && req.Expect != toolabi.WorkspaceAbsent && !isDigest:
		return fileError(toolabi.Invalid, "%q cannot be expected", req.Expect)
	}
	return nil
}

// asExpected says why a file is not as expected, or nil. One that holds already what is to be written is.
func (s *stage) asExpected(req toolabi.WorkspaceWriteRequest, digest string) error {
	body, ok := s.Files[req.Path]
	is := toolabi.DigestOf(body).String()
	switch {
	case req.Expect == "", ok && is == digest:
		return nil
	case !ok && req.Expect != toolabi.WorkspaceAbsent:
		return fileError(toolabi.Conflict, "%q is not there; nothing was changed", req.Path)
	case ok && is != req.Expect:
		return fileError(toolabi.Conflict, "%q is not as expected, its digest is %s; nothing was changed", req.Path, is)
	}
	return nil
}

func (s *stage) removeFile(req toolabi.WorkspaceRemoveRequest) (reply toolabi.WorkspaceRemoveReply, err error) {
	if err := checkPath(req.Path); err != nil {
		return reply, err
	}
	if s.folders()[req.Path] {
		return reply, fileError(toolabi.Denied, "%q is a directory, and is not removed", req.Path)
	}
	delete(s.Files, req.Path)
	return toolabi.WorkspaceRemoveReply(req), nil
}

func (s *stage) listFiles(req toolabi.WorkspaceListRequest) (reply toolabi.WorkspaceListReply, err error) {
	prefix := ""
	if req.Dir != "" {
		if err := checkPath(req.Dir); err != nil {
			return reply, err
		}
		prefix = req.Dir + "/"
	}
	_, isFile := s.Files[req.Dir]
	switch {
	case req.Limit > toolabi.MaxWorkspaceList:
		return reply, fileError(toolabi.Invalid, "a limit of %d, at most %d are listed at a time", req.Limit, toolabi.MaxWorkspaceList)
	case isFile:
		return reply, fileError(toolabi.Denied, "%q is no directory", req.Dir)
	case req.Dir != "" && !s.folders()[req.Dir]:
		return reply, fileError(toolabi.NotFound, "%q is not there", req.Dir)
	}
	all := slices.Concat(slices.Collect(maps.Keys(s.Files)), slices.Collect(maps.Keys(s.folders())))
	slices.Sort(all)
	for _, p := range all {
		below, ok := strings.CutPrefix(p, prefix)
		switch {
		case !ok || p <= req.After || !req.Recursive && strings.Contains(below, "/"):
		case len(reply.Files) == int(cmp.Or(req.Limit, toolabi.DefaultWorkspaceList)):
			reply.More = true
			return reply, nil
		case s.dirs[p]:
			reply.Files = append(reply.Files, toolabi.WorkspaceFile{Path: p, Kind: "dir"})
		default:
			reply.Files = append(reply.Files, toolabi.WorkspaceFile{Path: p, Kind: "file", Size: uint64(len(s.Files[p]))})
		}
	}
	return reply, nil
}
