//go:build !broken_nopins

package boltdb

// noPins leaves out the pins, and that an append looks whether the blobs that it names are there. It is a negative control: gc then removes
// blobs that a process is about to have named.
const noPins = false
