// Package bundle is the format of a journal, or of one run, in one file that can be carried elsewhere: what wrun backup and wrun
// export write. docs/journal.md describes it byte by byte, under "Bundles".
//
// A bundle is read and written as a stream, in memory that does not grow with it. Readers believe nothing: the order of frames,
// lengths, the digests of blobs and that of the whole are checked. They do not judge the entries of logs, which carry a chain of
// hashes of their own; whoever puts them into a journal does.
//
// The package knows no journal. Package boltdb makes bundles of one, and journals of bundles.
package bundle

import (
	"errors"

	"github.com/fxamacker/cbor/v2"

	"github.com/wrun-dev/wrun/journal"
)

// Magic is what a bundle begins with.
const Magic = "wrun bundle\n"

// Format is the version of the format that this package writes; it reads all that came before.
const Format = 1

const (
	// MaxFrame is the longest payload of a frame, in bytes.
	MaxFrame = 1 << 20
	// frameHead is the length of what precedes it: a type and the payload's length.
	frameHead = 1 + 4
)

// What a bundle is of.
const (
	// Backup is a whole journal.
	Backup = "backup"
	// Run is one run.
	Run = "run"
)

// Errors of a bundle.
var (
	// ErrForeign: it is no bundle.
	ErrForeign = errors.New("not a bundle")
	// ErrDamaged: it was written as a bundle and is cut off, or has changed since.
	ErrDamaged = errors.New("bundle is damaged")
	// ErrNewer: a newer version of wrun wrote it.
	ErrNewer = errors.New("bundle needs a newer wrun")
)

// Type is the type of a frame. Types are append-only.
type Type uint8

// The types, in the order of the documentation.
const (
	TypeHeader  Type = 1
	TypeRun     Type = 2
	TypeRecord  Type = 3
	TypeKey     Type = 4
	TypeRemoved Type = 5
	TypeBlob    Type = 6
	TypeChunk   Type = 7
	TypeEnd     Type = 8
)

var typeNames = [...]string{
	TypeHeader: "header", TypeRun: "run", TypeRecord: "record", TypeKey: "key", TypeRemoved: "removed", TypeBlob: "blob",
	TypeChunk: "chunk", TypeEnd: "end",
}

// String returns the type's name, or "" when it has none.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return ""
}

// Header says what a bundle is.
type Header struct {
	// Format is the version of the format. Set by NewWriter.
	Format uint64 `cbor:"1,keyasint"`
	// Of is Backup or Run.
	Of string `cbor:"2,keyasint"`
	// Journal is the id of the journal that it comes from, Created when that was made, in nanoseconds since 1970-01-01 UTC.
	Journal journal.Digest `cbor:"3,keyasint"`
	Created int64          `cbor:"4,keyasint"`
	// Schema is the schema of that journal's file.
	Schema uint64 `cbor:"5,keyasint"`
	// Made is when the bundle was begun, in nanoseconds since 1970-01-01 UTC.
	Made int64 `cbor:"6,keyasint"`
	// Run is the id of the run that it is of, "" for a backup.
	Run string `cbor:"7,keyasint,omitempty"`
	// Repaired says that the journal is a repaired copy, or was made of one: it may have tool state whose logs are lost.
	Repaired bool `cbor:"8,keyasint,omitempty"`
}

// Log says which run the records that follow belong to, and the position of the first. A run may come several times: as far as
// records come again, they are the same.
type Log struct {
	Run  string `cbor:"1,keyasint"`
	From uint64 `cbor:"2,keyasint,omitempty"`
}

// Key is a key of tool state. One that comes later takes the place of one before.
type Key struct {
	Space   string `cbor:"1,keyasint"`
	Key     string `cbor:"2,keyasint"`
	Version uint64 `cbor:"3,keyasint"`
	// Value is the value; a key that is Deleted has none, and keeps its version.
	Value   []byte `cbor:"4,keyasint,omitempty"`
	Deleted bool   `cbor:"5,keyasint,omitempty"`
}

// Removed is a run that was removed from the journal, and what the store keeps of it.
type Removed struct {
	Run  string `cbor:"1,keyasint"`
	Kept []byte `cbor:"2,keyasint,omitempty"`
}

// Blob says that a blob follows, in chunks.
type Blob struct {
	Digest journal.Digest `cbor:"1,keyasint"`
	// Size is its length in bytes.
	Size int64 `cbor:"2,keyasint"`
}

// Counts are how many frames a bundle has of each sort.
type Counts struct {
	// Runs counts the frames that begin or continue a run.
	Runs    uint64 `cbor:"1,keyasint"`
	Records uint64 `cbor:"2,keyasint"`
	Keys    uint64 `cbor:"3,keyasint"`
	Removed uint64 `cbor:"4,keyasint"`
	Blobs   uint64 `cbor:"5,keyasint"`
	// BlobBytes is the length of all blobs together.
	BlobBytes uint64 `cbor:"6,keyasint"`
}

// end is the last frame.
type end struct {
	Counts Counts `cbor:"1,keyasint"`
	// Sum is the SHA-256 of all that precedes the frame.
	Sum journal.Digest `cbor:"2,keyasint"`
}

var (
	encMode = must(cbor.EncOptions{
		Sort: cbor.SortBytewiseLexical, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
	}.EncMode())
	decMode = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField, UTF8: cbor.UTF8RejectInvalid,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive, BignumTag: cbor.BignumTagForbidden, MaxNestedLevels: 4,
	}.DecMode())
	lenient = must(cbor.DecOptions{}.DecMode()) // reads the version of a header whose other fields this package may not know
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options above are constants of this file
	}
	return v
}
