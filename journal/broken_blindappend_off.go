//go:build !broken_blindappend

package journal

// A negative control: with the build tag broken_blindappend the rules let an intent pass after a cancellation, and
// tests must fail.
const brokenBlindAppend = false
