package boltdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// value is a key of tool state. Deleted keys stay, without their bytes, so that versions keep growing.
type value struct {
	version uint64
	lives   bool
	bytes   []byte
}

func (v value) encode() []byte {
	b := append(be64(v.version), 0)
	if v.lives {
		b[8] = 1
	}
	return append(b, v.bytes...)
}

// decodeValue reads what encode wrote and seal sealed. The value is a copy.
func decodeValue(key, sealed []byte) (value, error) {
	b, err := unseal(key, sealed)
	if err != nil {
		return value{}, fmt.Errorf("%w: a stored value: %w", journal.ErrDamaged, err)
	}
	if len(b) < 9 || b[8] > 1 || b[8] == 0 && len(b) > 9 {
		return value{}, fmt.Errorf("%w: a stored value has an unknown layout", journal.ErrDamaged)
	}
	return value{version: binary.BigEndian.Uint64(b), lives: b[8] == 1, bytes: bytes.Clone(b[9:])}, nil
}

// kvKey is unambiguous whatever the two names hold, and keeps the keys of a space in order.
func kvKey(space, key string) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(space)))
	return append(append(b, space...), key...)
}

// splitKey takes apart what kvKey made of names that entries may have.
func splitKey(k []byte) (space, key string, ok bool) {
	if len(k) < 2 {
		return "", "", false
	}
	n := int(binary.BigEndian.Uint16(k))
	if n == 0 || n > journal.MaxSpace || len(k) <= 2+n || len(k) > 2+n+journal.MaxKey {
		return "", "", false
	}
	return string(k[2 : 2+n]), string(k[2+n:]), true
}

func get(tx *bbolt.Tx, k []byte) (value, error) {
	v := tx.Bucket(kvBucket).Get(k)
	if v == nil {
		return value{}, nil
	}
	return decodeValue(k, v)
}

// putValue writes a key of tool state.
func putValue(tx *bbolt.Tx, k []byte, v value) error {
	return tx.Bucket(kvBucket).Put(k, seal(k, v.encode()))
}

// stage returns what the entries' writes make of the keys they touch. Errors: ErrStale, ErrDamaged.
func stage(tx *bbolt.Tx, entries []journal.Entry) (map[string]value, error) {
	staged := map[string]value{}
	for _, e := range entries {
		for _, w := range e.Writes {
			k := kvKey(w.Space, w.Key)
			v, ok := staged[string(k)]
			if !ok {
				var err error
				if v, err = get(tx, k); err != nil {
					return nil, err
				}
			}
			version, err := w.Next(v.version, v.lives)
			if err != nil {
				return nil, err
			}
			staged[string(k)] = value{version: version, lives: !w.Delete, bytes: w.Value}
		}
	}
	return staged, nil
}

// Get returns a key's value and version; see journal.KV.
func (j *Journal) Get(ctx context.Context, space, key string) ([]byte, uint64, error) {
	var v value
	err := j.view(ctx, func(tx *bbolt.Tx) (err error) {
		if len(space) <= journal.MaxSpace && len(key) <= journal.MaxKey {
			v, err = get(tx, kvKey(space, key))
		}
		return err
	})
	if err == nil && !v.lives {
		err = fmt.Errorf("key %.80q of %.80q: %w", key, space, journal.ErrNotFound)
	}
	return v.bytes, v.version, err
}

// Scan yields the keys of a space that begin with prefix and come behind after; see journal.KV. Keys that change meanwhile come as
// they are when their turn comes.
func (j *Journal) Scan(ctx context.Context, space, prefix, after string) iter.Seq2[journal.Item, error] {
	return func(yield func(journal.Item, error) bool) {
		if len(space) > journal.MaxSpace || len(prefix) > journal.MaxKey || len(after) > journal.MaxKey {
			return
		}
		for from, more := kvKey(space, max(prefix, following(after))), true; more; {
			var batch []journal.Item
			err := j.view(ctx, func(tx *bbolt.Tx) (err error) {
				batch, from, err = scanBatch(tx, from, kvKey(space, ""), kvKey(space, prefix))
				return err
			})
			for _, item := range batch {
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Item{}, err)
				return
			}
			more = from != nil
		}
	}
}

// following is the first key that can come behind another one.
func following(after string) string {
	if after == "" {
		return ""
	}
	return after + "\x00"
}

// scanBatch returns some keys from a position on, and where the next batch begins, nil when there are no more.
func scanBatch(tx *bbolt.Tx, from, space, prefix []byte) (batch []journal.Item, next []byte, err error) {
	c := tx.Bucket(kvBucket).Cursor()
	seen, size := 0, 0
	for k, sealed := c.Seek(from); bytes.HasPrefix(k, prefix); k, sealed = c.Next() {
		if seen == batchEntries || size > batchBytes {
			return batch, bytes.Clone(k), nil
		}
		v, err := decodeValue(k, sealed)
		if err != nil {
			return batch, nil, err
		}
		if v.lives {
			batch = append(batch, journal.Item{Key: string(k[len(space):]), Value: v.bytes, Version: v.version})
		}
		seen, size = seen+1, size+len(sealed)
	}
	return batch, nil, nil
}
