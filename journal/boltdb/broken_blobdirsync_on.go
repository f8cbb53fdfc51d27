//go:build broken_blobdirsync

package boltdb

// A negative control: with the build tag broken_blobdirsync the directory of a blob is not synced after it got its name, and tests must fail.
const brokenBlobDirSync = true
