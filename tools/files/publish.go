package main

import (
	"context"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// PublishIn is the input of publish.
type PublishIn struct {
	URL      string `json:"url" doc:"where to put it" minLength:"1"`
	Artifact string `json:"artifact" doc:"an artifact of the run" pattern:"^[0-9a-f]{64}$"`
	Type     string `json:"type,omitempty" doc:"its media type; application/octet-stream when missing"`
}

// PublishOut is the output of publish.
type PublishOut struct {
	URL    string `json:"url"`
	Status uint16 `json:"status" doc:"what the server replied"`
	Size   uint64 `json:"size" doc:"how many bytes were put there"`
	ETag   string `json:"etag,omitempty" doc:"the server's name for this version"`
}

// publish puts an artifact at a URL. A PUT says what is to be there, whatever was, so that doing it again changes nothing; that holds
// without the server's knowing idempotency keys.
func publish(_ context.Context, in PublishIn) (PublishOut, error) {
	size, err := have(in.Artifact)
	if err != nil {
		return PublishOut{}, err
	}
	if in.Type == "" {
		in.Type = "application/octet-stream"
	}
	sdk.Logf(toolabi.LevelInfo, "putting %d bytes at %s", size, in.URL)
	reply, err := sdk.HTTPSend(toolabi.HTTPRequest{
		Method: "PUT", URL: in.URL, BodyArtifact: in.Artifact, TimeoutMS: fetchMS,
		Headers: []toolabi.Header{{Name: "Content-Type", Value: in.Type}},
	})
	switch {
	case err != nil:
		return PublishOut{}, err
	case reply.Status/100 != 2:
		e := answeredNo(reply)
		if e.Retry != toolabi.RetryNever {
			e.Effect = toolabi.EffectUnknown // it may have put some of it there before the trouble
		}
		return PublishOut{}, e
	}
	return PublishOut{URL: in.URL, Status: reply.Status, Size: size, ETag: reply.Header("Etag")}, nil
}

// have says how long an artifact of the run is.
func have(artifact string) (size uint64, err error) {
	reply, err := sdk.ArtifactStat(toolabi.ArtifactStatRequest{Artifact: artifact})
	switch {
	case err != nil:
		return 0, err
	case !reply.Found:
		return 0, sdk.Fail("no_artifact", "the run has no artifact "+artifact)
	}
	return reply.Size, nil
}
