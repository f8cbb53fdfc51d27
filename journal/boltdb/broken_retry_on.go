//go:build broken_retry

package boltdb

// A negative control: with the build tag broken_retry a commit that failed is taken for one that did not where its entries can
// be read, and the handle is used on, and tests must fail.
const brokenRetry = true
