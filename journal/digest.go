package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest is a SHA-256.
type Digest [32]byte

// DigestOf returns the digest of b.
func DigestOf(b []byte) Digest { return sha256.Sum256(b) }

// IsZero says whether the digest was never set.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first 12 digits, for people.
func (d Digest) Short() string { return hex.EncodeToString(d[:6]) }

// ParseDigest reads what String wrote. Upper case and other lengths are refused.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(d) || hex.EncodeToString(b) != s {
		return d, fmt.Errorf("digest %.80q: want 64 lower-case hexadecimal digits", s)
	}
	copy(d[:], b)
	return d, nil
}
