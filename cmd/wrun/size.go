package main

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"

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

// bytes is the size as a limit.
func (s size) bytes() int64 { return int64(min(uint64(s), math.MaxInt64)) }

// addQuotas adds the flags that bound what is written, to a verb that drives runs.
func (a *app) addQuotas(c *cobra.Command) {
	c.Flags().Var(&a.runQuota, "run-quota", "stop before a step once the run takes so much in the journal, such as 100MiB: its entries and artifacts")
	c.Flags().Var(&a.journalQuota, "journal-quota", "stop before a step once the journal takes so much on the disk, with its blobs, such as 2GiB")
}
