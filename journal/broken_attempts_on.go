//go:build broken_attempts

package journal

// A negative control: with the build tag broken_attempts a step that failed begins again whatever happened in it, and tests must fail.
const brokenAttempts = true
