package main

import (
	"strconv"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// size is a flag of bytes, written as a number, or as one with KiB, MiB or GiB.
type size uint64

// String returns the bytes; nothing for 0, which stands for the default.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*s), 10)
}

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	n, err := hostfuncs.ParseSize(text)
	if err == nil {
		*s = size(n)
	}
	return err
}

// Type implements pflag.Value: what stands for the value in help.
func (s *size) Type() string { return "SIZE" }
