//go:build !broken_restored

package journal

// A negative control: with the build tag broken_restored a restored log stops nothing, and tests must fail.
const brokenRestored = false
