//go:build !broken_blindappend

package runtime

// A negative control: with the build tag broken_blindappend a conflicting entry is appended again without being judged, and tests must fail.
const brokenBlindAppend = false
