//go:build broken_nosync

package boltdb

const noSync = true
