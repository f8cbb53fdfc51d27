//go:build !broken_nosync

package boltdb

// noSync leaves out every sync, of bbolt and of blobs. It is a negative control: a test of durability that passes with
// it cannot see.
const noSync = false
