package hostfuncs

import (
	"context"
	"errors"
	"io"

	"github.com/wrun-dev/wrun/toolabi"
)

func artifactGetFunc() Func {
	return artifactFunc(toolabi.FuncArtifactGet, toolabi.Read, judgeGet,
		func(req toolabi.ArtifactGetRequest) string { return describeDigest(req.Artifact) }, getArtifact)
}

func artifactStatFunc() Func {
	return artifactFunc(toolabi.FuncArtifactStat, toolabi.Read,
		func(req toolabi.ArtifactStatRequest) error {
			_, err := artifactRef(toolabi.FuncArtifactStat, req.Artifact)
			return err
		},
		func(req toolabi.ArtifactStatRequest) string { return describeDigest(req.Artifact) }, statArtifact)
}

func judgeGet(req toolabi.ArtifactGetRequest) error {
	if req.Length > toolabi.MaxArtifactPart {
		return tooLargef("artifact_get: %d bytes are asked for, at most %d at a time", req.Length, toolabi.MaxArtifactPart)
	}
	_, err := artifactRef(toolabi.FuncArtifactGet, req.Artifact)
	return err
}

func getArtifact(ctx context.Context, c Call, req toolabi.ArtifactGetRequest) (reply toolabi.ArtifactGetReply, err error) {
	d, _ := toolabi.ParseDigest(req.Artifact) // judged before
	r, n, err := c.Artifacts.Open(ctx, d)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	size := uint64(n)
	if req.Offset > size {
		return reply, invalidf("artifact_get: offset %d is behind the end of an artifact of %d bytes", req.Offset, size)
	}
	part, err := readPart(r, req.Offset, min(size-req.Offset, wanted(req.Length)))
	if err != nil {
		return reply, err
	}
	return toolabi.ArtifactGetReply{Body: part, Size: size}, nil
}

// wanted is what a length of a request means.
func wanted(length uint64) uint64 {
	if length == 0 {
		return toolabi.MaxArtifactPart
	}
	return length
}

// readPart reads n bytes at an offset, and the rest up to the end: it is there that damage is known.
func readPart(r io.Reader, offset, n uint64) ([]byte, error) {
	if _, err := io.CopyN(io.Discard, r, int64(offset)); err != nil {
		return nil, err
	}
	part := make([]byte, n)
	if _, err := io.ReadFull(r, part); err != nil {
		return nil, err
	}
	_, err := io.Copy(io.Discard, r)
	return part, err
}

func statArtifact(ctx context.Context, c Call, req toolabi.ArtifactStatRequest) (reply toolabi.ArtifactStatReply, err error) {
	d, _ := toolabi.ParseDigest(req.Artifact) // judged before
	reply.Size, reply.Found, err = findArtifact(ctx, c, d)
	return reply, err
}
