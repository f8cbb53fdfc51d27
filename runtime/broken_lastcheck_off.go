//go:build !broken_lastcheck

package runtime

// A negative control: with the build tag broken_lastcheck claim, send-by and key are not checked immediately before the first byte, and tests must fail.
const brokenLastCheck = false
