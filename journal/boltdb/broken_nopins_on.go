//go:build broken_nopins

package boltdb

const noPins = true
