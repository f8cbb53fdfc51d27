//go:build !broken_settle

package runtime

// A negative control: with the build tag broken_settle "did not happen" is accepted while the request may be on its way, and tests must fail.
const brokenSettle = false
