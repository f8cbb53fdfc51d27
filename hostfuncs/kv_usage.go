package hostfuncs

import (
	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

// kvUsageSpace is where the usage of each store is kept, under the store's name. It is written into journals and never changes.
const kvUsageSpace = "kv-usage"

// usage is how much a store holds. It is written in the same transaction as every write that changes it, so that a cap holds
// exactly, however many processes write: of two that would change it at once, one is asked again. A value that is replaced
// by one of the same length changes nothing of it, so counters do not meet here.
//
// The layout is written into journals: fields are added and never change their meaning.
type usage struct {
	Keys  uint64 `cbor:"1,keyasint"`
	Bytes uint64 `cbor:"2,keyasint"`
}

// account stages what a write of a key makes of the store's usage. Errors: toolabi.TooLarge where the store would hold more
// than it may; what shrinks a store is allowed in every case.
func (s store) account(key string, e entry, value []byte, remove bool) error {
	if e.found && !remove && len(value) == len(e.value) {
		return nil
	}
	u, version, err := s.usage()
	if err != nil {
		return err
	}
	was := u
	if e.found {
		size := uint64(len(key) + len(e.value))
		if u.Keys == 0 || u.Bytes < size {
			return fmt.Errorf("%w: the usage of store %s is less than one of its keys", ErrDamaged, s.name)
		}
		u.Keys, u.Bytes = u.Keys-1, u.Bytes-size
	}
	if !remove {
		u.Keys, u.Bytes = u.Keys+1, u.Bytes+uint64(len(key)+len(value))
	}
	switch {
	case u.Keys > was.Keys && u.Keys > toolabi.MaxKVKeys:
		return tooLargef("%s: store %s has %d keys, and may have no more; remove some", s.function, s.name, was.Keys)
	case u.Bytes > was.Bytes && u.Bytes > toolabi.MaxKVStore:
		return tooLargef("%s: store %s would hold %d bytes of keys and values, at most %d are allowed; remove some", s.function, s.name, u.Bytes, toolabi.MaxKVStore)
	}
	b, err := toolabi.Encode(u)
	if err != nil {
		return err
	}
	s.c.Stage(kvUsageSpace, s.name, b, false, version)
	return nil
}

// usage reads the store's usage, and the version that its next write has to expect.
func (s store) usage() (u usage, version uint64, err error) {
	b, version, found, err := s.c.Get(kvUsageSpace, s.name)
	switch {
	case err != nil:
		return u, 0, err
	case !found:
		u, err = s.count()
		return u, 0, err
	}
	if err := toolabi.Decode(b, &u); err != nil {
		return u, 0, fmt.Errorf("%w: the usage of store %s: %w", ErrDamaged, s.name, err)
	}
	return u, version, nil
}

// count counts what a store holds of which no usage was ever written.
func (s store) count() (u usage, err error) {
	err = s.each("", "", scanKeys, func(item Item) bool {
		u.Keys, u.Bytes = u.Keys+1, u.Bytes+uint64(len(item.Key)+len(item.Value))
		return true
	})
	return u, err
}
