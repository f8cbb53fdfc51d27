package runtime

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/wrun-dev/wrun/journal"
)

// idempotencyKey derives the key of an effect, once, for its intent; every later send reads it there. It depends on the
// journal, the run, the call without its attempts, the request before secrets are filled in, and how many equal
// requests came before it in the call: so a second attempt has the same key, and another body another one.
func idempotencyKey(id journal.Digest, run string, call journal.Step, request journal.Digest, occurrence int) string {
	h := sha256.New()
	part := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte("wrun key 1"))
	part(id[:])
	part([]byte(run))
	part([]byte(call.WithoutAttempts()))
	part(request[:])
	part(binary.BigEndian.AppendUint64(nil, uint64(occurrence)))
	return "wrun-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// requestDigest identifies a request: what is called and with what.
func requestDigest(name string, request []byte) journal.Digest {
	h := sha256.New()
	h.Write([]byte(name))
	h.Write([]byte{0})
	h.Write(request)
	return journal.Digest(h.Sum(nil))
}

func randomSeed() (d journal.Digest) {
	rand.Read(d[:]) // never fails, says its documentation
	return d
}

func randomOwner() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
