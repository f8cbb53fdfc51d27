package boltdb

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Entries carry a chain of hashes. What lies beside them is sealed: a checksum over key and value in front, because
// bbolt itself does not notice a changed byte.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errSeal = errors.New("its checksum is wrong")

func checksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

func seal(key, value []byte) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(value)), checksum(key, value))
	return append(b, value...)
}

// unseal returns the value inside v, which belongs to whoever v belongs to.
func unseal(key, v []byte) ([]byte, error) {
	if len(v) < 4 || binary.BigEndian.Uint32(v) != checksum(key, v[4:]) {
		return nil, errSeal
	}
	return v[4:], nil
}
