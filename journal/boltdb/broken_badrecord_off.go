//go:build !broken_badrecord

package boltdb

const brokenBadRecord = false
