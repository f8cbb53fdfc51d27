//go:build broken_badrecord

package boltdb

// A negative control: with the build tag broken_badrecord a folded log that cannot be read is passed over as if there were none, and tests must fail.
const brokenBadRecord = true
