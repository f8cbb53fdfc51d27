//go:build !broken_approval

package runtime

// A negative control: with the build tag broken_approval a call that was asked about begins whatever was answered, and tests must fail.
const brokenApproval = false
