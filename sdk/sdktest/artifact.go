package sdktest

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// quota is how many bytes of artifacts a run of this World may make.
func (w *World) quota() uint64 {
	if w.ArtifactQuota == 0 {
		return toolabi.MaxArtifact
	}
	return w.ArtifactQuota
}

// kept finds an artifact of the run: one that was put, or a version of a file.
func (w *World) kept(digest string) ([]byte, bool) {
	if body, ok := w.Artifacts[digest]; ok {
		return body, true
	}
	body, ok := w.written[digest]
	return body, ok
}

// usage is how many artifacts the run has, and how many bytes they are.
func (w *World) usage() (count int, size uint64) {
	for _, b := range w.Artifacts {
		count, size = count+1, size+uint64(len(b))
	}
	for digest, b := range w.written {
		if _, twice := w.Artifacts[digest]; !twice {
			count, size = count+1, size+uint64(len(b))
		}
	}
	return count, size
}

func (s *stage) artifactPut(req toolabi.ArtifactPutRequest) (reply toolabi.ArtifactPutReply, err error) {
	switch {
	case len(req.Body) > toolabi.MaxArtifactPart:
		return reply, tooLargef("artifact_put: a body of %d bytes, at most %d are allowed", len(req.Body), toolabi.MaxArtifactPart)
	case len(req.Name) > toolabi.MaxArtifactName, !utf8.ValidString(req.Name), toolabi.CleanLine(req.Name, toolabi.MaxArtifactName) != req.Name:
		return reply, invalidf("artifact_put: the name has more than one line, characters that are not shown, or over %d bytes", toolabi.MaxArtifactName)
	}
	digest := toolabi.DigestOf(req.Body).String()
	if _, have := s.kept(digest); !have {
		count, size := s.usage()
		size += uint64(len(req.Body))
		switch {
		case count >= toolabi.MaxArtifacts:
			return reply, tooLargef("artifact_put: a run may make %d artifacts", toolabi.MaxArtifacts)
		case size > s.quota():
			return reply, tooLargef("artifact_put: the run would have %d bytes of artifacts, and is granted %d", size, s.quota())
		}
		s.Artifacts[digest] = append([]byte{}, req.Body...)
	}
	s.Kept = append(s.Kept, toolabi.ArtifactPutRequest{Body: bytes.Clone(req.Body), Name: req.Name})
	return toolabi.ArtifactPutReply{Artifact: digest, Size: uint64(len(req.Body))}, nil
}

// artifact finds an artifact of the run.
func (s *stage) artifact(function, digest string) (body []byte, found bool, err error) {
	if _, ok := toolabi.ParseDigest(digest); !ok {
		return nil, false, invalidf("%s: %.80q is no digest: want 64 lower-case hexadecimal digits", function, digest)
	}
	body, found = s.kept(digest)
	return body, found, nil
}

func (s *stage) artifactGet(req toolabi.ArtifactGetRequest) (reply toolabi.ArtifactGetReply, err error) {
	if req.Length > toolabi.MaxArtifactPart {
		return reply, tooLargef("artifact_get: %d bytes are asked for, at most %d at a time", req.Length, toolabi.MaxArtifactPart)
	}
	body, found, err := s.artifact(toolabi.FuncArtifactGet, req.Artifact)
	size := uint64(len(body))
	switch {
	case err != nil:
		return reply, err
	case !found:
		return reply, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("the run has no artifact %s", req.Artifact))
	case req.Offset > size:
		return reply, invalidf("artifact_get: offset %d is behind the end of an artifact of %d bytes", req.Offset, size)
	}
	length := req.Length
	if length == 0 {
		length = toolabi.MaxArtifactPart
	}
	end := req.Offset + min(length, size-req.Offset)
	return toolabi.ArtifactGetReply{Body: bytes.Clone(body[req.Offset:end]), Size: size}, nil
}

func (s *stage) artifactStat(req toolabi.ArtifactStatRequest) (toolabi.ArtifactStatReply, error) {
	body, found, err := s.artifact(toolabi.FuncArtifactStat, req.Artifact)
	return toolabi.ArtifactStatReply{Found: found, Size: uint64(len(body))}, err
}
