package sdk

import "github.com/wrun-dev/wrun/toolabi"

// ArtifactPut keeps bytes as an artifact of the run. The module must Need toolabi.FuncArtifactPut.
//
// Errors are those of toolabi.ArtifactPutRequest, and toolabi.Denied in a tool that declares itself Pure or ReadOnly.
func ArtifactPut(req toolabi.ArtifactPutRequest) (toolabi.ArtifactPutReply, error) {
	var reply toolabi.ArtifactPutReply
	err := use(crossArtifactPut, req, &reply)
	return reply, err
}

// ArtifactGet reads a part of an artifact of the run. The module must Need toolabi.FuncArtifactGet.
//
// Errors are those of toolabi.ArtifactGetRequest, and toolabi.Denied in a tool that declares itself Pure.
func ArtifactGet(req toolabi.ArtifactGetRequest) (toolabi.ArtifactGetReply, error) {
	var reply toolabi.ArtifactGetReply
	err := use(crossArtifactGet, req, &reply)
	return reply, err
}

// ArtifactStat says whether the run has an artifact, and how long it is. The module must Need toolabi.FuncArtifactStat.
//
// Errors are those of toolabi.ArtifactStatRequest, and toolabi.Denied in a tool that declares itself Pure.
func ArtifactStat(req toolabi.ArtifactStatRequest) (toolabi.ArtifactStatReply, error) {
	var reply toolabi.ArtifactStatReply
	err := use(crossArtifactStat, req, &reply)
	return reply, err
}
