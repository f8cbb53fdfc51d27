//go:build broken_noreset

package sandbox

// A negative control: with the build tag broken_noreset a memory is not put back after a call, and tests must fail.
const brokenNoReset = true
