//go:build !broken_retry

package boltdb

const brokenRetry = false
