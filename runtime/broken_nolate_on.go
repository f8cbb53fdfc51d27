//go:build broken_nolate

package runtime

// A negative control: with the build tag broken_nolate what a fenced owner learns is dropped, and tests must fail.
const brokenNoLate = true
