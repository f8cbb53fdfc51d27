//go:build !broken_blobdirsync

package boltdb

const brokenBlobDirSync = false
