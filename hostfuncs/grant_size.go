package hostfuncs

import (
	"errors"
	"math/bits"
	"strconv"
	"strings"
)

// DefaultArtifacts is how many bytes of artifacts a run may make when an operator grants them without saying how many.
const DefaultArtifacts = 1 << 30

// MaxSize is the largest size that can be written, in bytes.
const MaxSize = 1 << 62

var sizeUnits = []struct {
	name  string
	bytes uint64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// ParseSize reads a number of bytes over 0, or one with KiB, MiB or GiB behind it.
func ParseSize(s string) (uint64, error) {
	digits, unit := s, uint64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			digits, unit = n, u.bytes
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	over, bytes := bits.Mul64(n, unit)
	if err != nil || n == 0 || over != 0 || bytes > MaxSize {
		return 0, errors.New("want a size in bytes over 0, such as 512MiB or 2GiB")
	}
	return bytes, nil
}

// FormatSize returns the shortest form of a size that ParseSize reads.
func FormatSize(n uint64) string {
	for _, u := range sizeUnits {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatUint(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatUint(n, 10)
}
