package journal

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Schema is the version of the entry's layout that this package writes. It reads all that came before: 1 had no Due, no
// Expires, no Approval and no Fuel, and before 3 a record of the name label was no label.
const Schema = 3

var (
	encMode = must(cbor.EncOptions{
		Sort:          cbor.SortBytewiseLexical,
		ShortestFloat: cbor.ShortestFloat16,
		IndefLength:   cbor.IndefLengthForbidden,
		TagsMd:        cbor.TagsForbidden,
	}.EncMode())
	decMode = must(cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		UTF8:              cbor.UTF8RejectInvalid,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		BignumTag:         cbor.BignumTagForbidden,
		MaxNestedLevels:   8,
		MaxArrayElements:  1 << 17,
		MaxMapPairs:       1 << 17,
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options above are constants of this file
	}
	return v
}

// ChainStart is the hash that a run's first entry follows. It differs from run to run, so that an entry copied from
// another log does not fit.
func ChainStart(run string) Digest { return DigestOf([]byte("wrun log\x00" + run)) }

// Marshal returns the entry as stores keep it: its hash, then its deterministic CBOR. It sets e.Schema and e.Hash, and
// decodes what it encoded before it returns, because an entry that cannot be read back must not be committed.
// Errors: ErrInvalid.
func (e *Entry) Marshal(before Digest) ([]byte, error) {
	e.Schema = Schema
	body, err := encMode.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("%w: entry %d cannot be encoded: %w", ErrInvalid, e.Seq, err)
	}
	if len(body) > MaxEntry {
		return nil, fmt.Errorf("%w: entry %d has %d bytes, at most %d are allowed", ErrInvalid, e.Seq, len(body), MaxEntry)
	}
	e.Hash = chain(before, body)
	record := append(e.Hash[:len(e.Hash):len(e.Hash)], body...)
	if _, err := Unmarshal(record, before); err != nil {
		return nil, fmt.Errorf("%w: entry %d cannot be read back: %v", ErrInvalid, e.Seq, err) // nothing is damaged yet
	}
	return record, nil
}

// EncodedLen returns how long the entry's encoding is, in bytes, without the hash before it; 0 for one that has none.
func (e Entry) EncodedLen() int {
	b, err := encMode.Marshal(&e)
	if err != nil {
		return 0
	}
	return len(b)
}

// Unmarshal reads what Marshal wrote, and checks it against the hash of the entry before. Errors: ErrDamaged, ErrNewer.
func Unmarshal(record []byte, before Digest) (Entry, error) {
	var e Entry
	if len(record) < len(e.Hash) {
		return e, fmt.Errorf("%w: a record has %d bytes", ErrDamaged, len(record))
	}
	copy(e.Hash[:], record)
	body := record[len(e.Hash):]
	if chain(before, body) != e.Hash {
		return e, fmt.Errorf("%w: a record does not fit the chain of hashes", ErrDamaged)
	}
	var head struct {
		Schema uint8 `cbor:"0,keyasint"`
		Kind   Kind  `cbor:"3,keyasint"`
	}
	if err := lenient.Unmarshal(body, &head); err == nil {
		if head.Schema > Schema {
			return e, fmt.Errorf("%w: an entry has schema %d, this version reads up to %d", ErrNewer, head.Schema, Schema)
		}
		if head.Kind > Released {
			return e, fmt.Errorf("%w: an entry is of kind %d, which this version does not know", ErrNewer, head.Kind)
		}
	}
	if err := decMode.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("%w: a record cannot be decoded: %w", ErrDamaged, err)
	}
	if again, err := encMode.Marshal(&e); err != nil || !bytes.Equal(again, body) {
		return e, fmt.Errorf("%w: a record is not in the deterministic encoding", ErrDamaged)
	}
	return e, nil
}

// Chained returns the hash of a record, as Marshal wrote it, that follows the one with another hash; what the record says is not
// looked at. Errors: ErrDamaged.
func Chained(record []byte, before Digest) (hash Digest, err error) {
	if len(record) <= len(hash) {
		return hash, fmt.Errorf("%w: a record has %d bytes", ErrDamaged, len(record))
	}
	copy(hash[:], record)
	if chain(before, record[len(hash):]) != hash {
		return hash, fmt.Errorf("%w: a record does not fit the chain of hashes", ErrDamaged)
	}
	return hash, nil
}

// SaysImported says whether a record is one that says that its log was imported, wherever it was found: neither that it fits the chain
// nor what is before it is looked at.
func SaysImported(record []byte) bool {
	var e struct {
		Kind Kind   `cbor:"3,keyasint"`
		Name string `cbor:"5,keyasint"`
	}
	const hash = len(Digest{})
	return len(record) > hash && lenient.Unmarshal(record[hash:], &e) == nil && e.Kind == Record && e.Name == RecordImported
}

// NamedBy are the blobs that a record names, wherever it was found: neither that it fits the chain nor what is before it is looked at.
func NamedBy(record []byte) []Digest {
	var e Entry
	const hash = len(Digest{})
	if len(record) <= hash || lenient.Unmarshal(record[hash:], &e) != nil {
		return nil
	}
	return e.Names()
}

// lenient reads the version of an entry whose other fields this package may not know.
var lenient = must(cbor.DecOptions{}.DecMode())

func chain(before Digest, body []byte) Digest {
	h := sha256.New()
	h.Write(before[:])
	h.Write(body)
	return Digest(h.Sum(nil))
}

// MarshalState returns a state's encoding, for stores that keep folded logs beside the entries.
func MarshalState(s *State) ([]byte, error) { return encMode.Marshal(s) }

// UnmarshalState reads what MarshalState wrote. Errors: ErrDamaged.
func UnmarshalState(b []byte) (*State, error) {
	s := new(State)
	if err := decMode.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%w: a folded log cannot be decoded: %w", ErrDamaged, err)
	}
	return s, nil
}
