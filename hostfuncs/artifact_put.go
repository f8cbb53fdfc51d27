package hostfuncs

import (
	"bytes"
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

func artifactPutFunc() Func {
	f := artifactFunc(toolabi.FuncArtifactPut, toolabi.Effect, judgePut, func(req toolabi.ArtifactPutRequest) string {
		return toolabi.CleanLine(req.Name, toolabi.MaxArtifactName)
	}, putArtifact)
	f.Bulky = true // what it asks for is what it makes
	type form struct {
		Artifact string `json:"artifact"`
		Size     uint64 `json:"size"`
	}
	f.ShowReply = shown(func(r toolabi.ArtifactPutReply) form { return form(r) })
	return f
}

func judgePut(req toolabi.ArtifactPutRequest) error {
	if len(req.Body) > toolabi.MaxArtifactPart {
		return tooLargef("artifact_put: a body of %d bytes, at most %d are allowed", len(req.Body), toolabi.MaxArtifactPart)
	}
	return judgeArtifactName(toolabi.FuncArtifactPut, req.Name)
}

// putArtifact keeps a body. Nothing leaves the host, so nobody is asked before it.
func putArtifact(ctx context.Context, c Call, req toolabi.ArtifactPutRequest) (reply toolabi.ArtifactPutReply, err error) {
	want := toolabi.DigestOf(req.Body)
	_, have, err := findArtifact(ctx, c, want)
	if err != nil {
		return reply, err
	}
	if !have {
		if err := roomLeft(ctx, c, toolabi.FuncArtifactPut, uint64(len(req.Body))); err != nil {
			return reply, err
		}
	}
	d, n, err := c.Artifacts.Put(ctx, bytes.NewReader(req.Body))
	if err != nil {
		return reply, err
	}
	if d != want || n != int64(len(req.Body)) {
		return reply, fmt.Errorf("artifact_put: a body of %d bytes (%s) was stored as %d bytes (%s)", len(req.Body), want.Short(), n, d.Short())
	}
	if err := madeRoom(ctx, c, toolabi.FuncArtifactPut); err != nil {
		return reply, err
	}
	return toolabi.ArtifactPutReply{Artifact: d.String(), Size: uint64(n)}, nil
}
