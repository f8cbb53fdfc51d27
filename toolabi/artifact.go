package toolabi

import "encoding/hex"

// The functions of artifacts: bytes of a run under their SHA-256, in 64 lower-case hexadecimal digits. A run has those that its
// own steps made, also as bodies of replies and as files; those of other runs are not found.
const (
	// FuncArtifactPut keeps bytes. Effect: done again, it gives the same artifact.
	FuncArtifactPut = "artifact_put"
	// FuncArtifactGet reads a part of an artifact. Read.
	FuncArtifactGet = "artifact_get"
	// FuncArtifactStat says whether the run has an artifact. Read.
	FuncArtifactStat = "artifact_stat"
)

// Caps of artifacts.
const (
	// MaxArtifactPart is how much is put or got at a time, in bytes.
	MaxArtifactPart = 8 << 20
	// MaxArtifact is the longest artifact, in bytes. Those over MaxArtifactPart come from replies of HTTP.
	MaxArtifact = 1 << 30
	// MaxArtifacts is how many artifacts a run may make.
	MaxArtifacts = 10_000
	// MaxArtifactName is how long a name may be, in bytes.
	MaxArtifactName = 255
)

// ArtifactPutRequest is the request of artifact_put.
//
// Errors: Denied when artifacts are not granted; TooLarge when a cap or what is granted is exceeded; Invalid for a name.
type ArtifactPutRequest struct {
	// Body is at most MaxArtifactPart bytes, and may be empty.
	Body []byte `cbor:"1,keyasint"`
	// Name is what people are shown, such as "report.pdf": text on one line, at most MaxArtifactName bytes. It identifies nothing.
	Name string `cbor:"2,keyasint,omitempty"`
}

// ArtifactPutReply is the reply of artifact_put. The artifact survives a crash.
type ArtifactPutReply struct {
	// Artifact is the SHA-256 of the body.
	Artifact string `cbor:"1,keyasint"`
	// Size is the body's length in bytes.
	Size uint64 `cbor:"2,keyasint,omitempty"`
}

// ArtifactGetRequest is the request of artifact_get.
//
// Errors: Denied when artifacts are not granted; NotFound when the run has no such artifact; Invalid for what is no digest in its
// one spelling, and for an Offset behind the end; TooLarge for a Length over MaxArtifactPart.
type ArtifactGetRequest struct {
	Artifact string `cbor:"1,keyasint"`
	// Offset is where to begin, in bytes.
	Offset uint64 `cbor:"2,keyasint,omitempty"`
	// Length is how much is wanted at most, in bytes; 0 means as much as there is, at most MaxArtifactPart.
	Length uint64 `cbor:"3,keyasint,omitempty"`
}

// ArtifactGetReply is the reply of artifact_get.
type ArtifactGetReply struct {
	// Body is what was asked for, shorter at the end of the artifact.
	Body []byte `cbor:"1,keyasint,omitempty"`
	// Size is the length of the whole artifact, in bytes.
	Size uint64 `cbor:"2,keyasint,omitempty"`
}

// ArtifactStatRequest is the request of artifact_stat. Errors: Denied and Invalid as for artifact_get.
type ArtifactStatRequest struct {
	Artifact string `cbor:"1,keyasint"`
}

// ArtifactStatReply is the reply of artifact_stat.
type ArtifactStatReply struct {
	// Found says that the run has the artifact.
	Found bool `cbor:"1,keyasint,omitempty"`
	// Size is its length in bytes.
	Size uint64 `cbor:"2,keyasint,omitempty"`
}

// ParseDigest reads the one spelling of a digest: 64 lower-case hexadecimal digits.
func ParseDigest(s string) (d Digest, ok bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(d) || hex.EncodeToString(b) != s {
		return d, false
	}
	return Digest(b), true
}
