package boltdb

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// schema is the version of the file's layout: the buckets below and what is in them. Since schema 3 folded logs have labels.
const schema = 3

const mark = "wrun journal"

// The buckets, and the keys of the first.
var (
	headerBucket  = []byte("wrun")
	entriesBucket = []byte("entries") // run, 0, position (8 bytes): an entry as journal.Entry.Marshal encodes it
	keysBucket    = []byte("keys")    // run, 0, step, 0, phase: the position
	statesBucket  = []byte("states")  // run: a folded log, sealed
	kvBucket      = []byte("kv")      // length of space (2 bytes), space, key: version, whether it lives, value, sealed
	goneBucket    = []byte("gone")    // run: what is kept of a run that was removed, sealed; since schema 2

	// unsettledBucket holds the runs that are unsettled, with empty values: so that looking for them does not look through all.
	// Since schema 2.
	unsettledBucket = []byte("unsettled")

	markKey        = []byte("mark")
	schemaKey      = []byte("schema")
	idKey          = []byte("id")
	createdKey     = []byte("created")
	incarnationKey = []byte("incarnation") // since schema 2
	repairedKey    = []byte("repaired")    // of a repaired copy, and what was made of it: empty
	sumKey         = []byte("sum")         // a checksum over the values of the four before; since schema 2
)

// Buckets that are there only while something is under way, whatever the schema; what a killed process leaves of them is removed by
// the next maintenance.
var (
	copiesBucket  = []byte("copies")  // a bucket for every copy: what has changed since it was last looked at; see notes.go
	importsBucket = []byte("imports") // run: a log that is being imported, and has no folded log yet
)

// bucketsOf are the buckets beside the header's that a file of a schema has.
func bucketsOf(schema uint64) [][]byte {
	all := [][]byte{entriesBucket, keysBucket, statesBucket, kvBucket}
	if schema >= 2 {
		all = append(all, goneBucket, unsettledBucket)
	}
	return all
}

// header is what a journal says of itself.
type header struct {
	schema  uint64
	id      journal.Digest
	created time.Time
	// incarnation is random, and drawn anew whenever something other than what was there is put in a journal's place: a handle
	// that knows the one before it must not go on.
	incarnation journal.Digest
	// repaired says that it is a repaired copy: it may have values of tool state whose logs are lost.
	repaired bool
}

// read fills in the header. Errors: ErrForeign, ErrNewer, ErrDamaged.
func (h *header) read(tx *bbolt.Tx) error {
	b := tx.Bucket(headerBucket)
	if b == nil || !marked(b.Get) {
		return unmarked(func(name []byte) bool { return tx.Bucket(name) != nil })
	}
	if err := h.parse(b.Get); err != nil {
		return err
	}
	for _, name := range bucketsOf(h.schema) {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("%w: its %s are missing", journal.ErrDamaged, name)
		}
	}
	return nil
}

// marked says whether a header's bucket says whose it is.
func marked(get func(key []byte) []byte) bool { return bytes.Equal(get(markKey), []byte(mark)) }

// unmarked is what is wrong with a file that does not say that it is a journal. One that has all that a journal has was one.
func unmarked(has func(bucket []byte) bool) error {
	for _, name := range bucketsOf(1) {
		if !has(name) {
			return fmt.Errorf("%w: a bbolt file of another program", journal.ErrForeign)
		}
	}
	return fmt.Errorf("%w: it has the logs of a journal and does not say that it is one", journal.ErrDamaged)
}

// parse reads the keys of the header's bucket but the mark. Errors: ErrNewer, ErrDamaged.
func (h *header) parse(get func(key []byte) []byte) error {
	v := get(schemaKey)
	if len(v) != 8 {
		return fmt.Errorf("%w: it does not say which schema it has", journal.ErrDamaged)
	}
	if n := binary.BigEndian.Uint64(v); n > schema {
		return fmt.Errorf("%w: it has schema %d, this version knows up to %d", journal.ErrNewer, n, schema)
	} else if n == 0 {
		return fmt.Errorf("%w: it says that it has schema 0", journal.ErrDamaged)
	}
	h.schema = binary.BigEndian.Uint64(v)
	id, created := get(idKey), get(createdKey)
	if len(id) != len(h.id) || len(created) != 8 {
		return fmt.Errorf("%w: it does not say which journal it is", journal.ErrDamaged)
	}
	copy(h.id[:], id)
	h.created = time.Unix(0, int64(binary.BigEndian.Uint64(created)))
	if h.schema >= 2 {
		incarnation := get(incarnationKey)
		if len(incarnation) != len(h.incarnation) {
			return fmt.Errorf("%w: it does not say which of its incarnations it is", journal.ErrDamaged)
		}
		copy(h.incarnation[:], incarnation)
	}
	h.repaired = get(repairedKey) != nil
	if h.schema >= 2 && !bytes.Equal(get(sumKey), h.sum()) {
		return fmt.Errorf("%w: the checksum of what it says of itself is wrong", journal.ErrDamaged)
	}
	return nil
}

// sum is a checksum over what a journal says of itself. Idempotency keys are made of its id: one that has changed must not be used.
func (h *header) sum() []byte {
	said := append(append(bytes.Clone(h.id[:]), be64(uint64(h.created.UnixNano()))...), h.incarnation[:]...)
	if h.repaired {
		said = append(said, 1)
	}
	return binary.BigEndian.AppendUint32(nil, checksum(sumKey, said))
}

// newHeader draws what a new journal says of itself.
func newHeader(now time.Time) (h header) {
	rand.Read(h.id[:])
	rand.Read(h.incarnation[:])
	h.schema, h.created = schema, now
	return h
}

// write makes an empty journal of the present schema.
func (h *header) write(tx *bbolt.Tx) error {
	for _, name := range bucketsOf(schema) {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	b, err := tx.CreateBucket(headerBucket)
	if err != nil {
		return err
	}
	for _, kv := range [][2][]byte{
		{markKey, []byte(mark)},
		{schemaKey, be64(schema)},
		{idKey, h.id[:]},
		{createdKey, be64(uint64(h.created.UnixNano()))},
		{incarnationKey, h.incarnation[:]},
		{sumKey, h.sum()},
	} {
		if err := b.Put(kv[0], kv[1]); err != nil {
			return err
		}
	}
	if h.repaired {
		return b.Put(repairedKey, nil)
	}
	return nil
}

func be64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
