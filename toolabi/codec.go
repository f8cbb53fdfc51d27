package toolabi

import (
	"bytes"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// The one encoder and the one decoder of the contract: deterministic out, strict in.
var (
	encMode = must(cbor.EncOptions{
		Sort:          cbor.SortBytewiseLexical,
		ShortestFloat: cbor.ShortestFloat16,
		NaNConvert:    cbor.NaNConvert7e00,
		InfConvert:    cbor.InfConvertFloat16,
		NilContainers: cbor.NilContainerAsEmpty, // null is not a byte string or an array
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
		MaxNestedLevels:   16,
		MaxArrayElements:  1 << 16,
		MaxMapPairs:       1 << 10,
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options above are constants of this file
	}
	return v
}

// Encode returns the deterministic encoding of a message.
func Encode(v any) ([]byte, error) {
	b, err := encMode.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return b, nil
}

// Decode reads exactly one message into v. It refuses what Encode would not have written: duplicate and unknown keys,
// indefinite lengths, tags, invalid UTF-8, trailing bytes, lengths that are not the shortest, missing fields that are
// not optional, and nesting over 16.
func Decode(b []byte, v any) error {
	if err := decMode.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	again, err := Encode(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, again) {
		return fmt.Errorf("decode message: not in the deterministic encoding")
	}
	return nil
}
