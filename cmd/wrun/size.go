package main

import (
	"errors"
	"math/bits"
	"strconv"
	"strings"
)

// size is a flag of bytes, written as a number, or as one with KiB, MiB or GiB.
type size uint64

var sizeUnits = []struct {
	name  string
	bytes uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}

// String returns the bytes; nothing for 0, which stands for the default.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*s), 10)
}

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	unit := uint64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = n, u.bytes
		}
	}
	n, err := strconv.ParseUint(text, 10, 63)
	over, bytes := bits.Mul64(n, unit)
	if err != nil || n == 0 || over != 0 || bytes > 1<<62 {
		return errors.New("want a size in bytes over 0, such as 512MiB or 2GiB")
	}
	*s = size(bytes)
	return nil
}

// Type implements pflag.Value: what stands for the value in help.
func (s *size) Type() string { return "SIZE" }
