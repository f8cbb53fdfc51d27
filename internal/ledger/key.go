package ledger

import (
	"crypto/sha256"
	"net/http"
	"time"
)

// first is the first request that came with a key and was accepted.
type first struct {
	digest [32]byte
	at     time.Time
	id     string
	reply  any
}

// known answers a request whose key came before. It wants mu held.
func (l *Ledger) known(a asked) (outcome, bool) {
	if a.key == "" || !l.behaviour.HonourKeys {
		return outcome{}, false
	}
	if digest, ok := l.working[a.key]; ok {
		if digest != a.digest {
			return usedOtherwise(), true
		}
		return refused(http.StatusConflict, "a request with this idempotency key is still being worked on"), true
	}
	f, ok := l.firsts[a.key]
	switch {
	case !ok || l.forgotten(f, time.Now()):
		return outcome{}, false
	case f.digest != a.digest:
		return usedOtherwise(), true
	}
	l.replayed++
	return outcome{status: http.StatusCreated, body: f.reply, id: f.id, replayed: true}, true
}

func usedOtherwise() outcome {
	return refused(http.StatusUnprocessableEntity, "the idempotency key was used for another request")
}

// remember keeps the first reply to a key; later ones, accepted while keys were ignored, do not replace it unless it was
// forgotten. It wants mu held.
func (l *Ledger) remember(key string, r record, id string, reply any) {
	if key == "" || len(r.Digest) != sha256.Size {
		return
	}
	at := time.UnixMilli(r.At)
	if f, ok := l.firsts[key]; ok && !l.forgotten(f, at) {
		return
	}
	l.firsts[key] = first{digest: [32]byte(r.Digest), at: at, id: id, reply: reply}
}

// forgotten says whether a key is too old to be known. It wants mu held.
func (l *Ledger) forgotten(f first, now time.Time) bool {
	ttl := l.behaviour.keyTTL()
	return ttl > 0 && now.Sub(f.at) >= ttl
}
