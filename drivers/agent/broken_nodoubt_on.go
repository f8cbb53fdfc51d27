//go:build broken_nodoubt

package agent

// A negative control: with the build tag broken_nodoubt the books forget what may have been paid twice, and tests must fail.
const brokenNoDoubt = true
