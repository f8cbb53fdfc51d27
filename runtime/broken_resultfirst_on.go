//go:build broken_resultfirst

package runtime

// A negative control: with the build tag broken_resultfirst the result of an effect is written before it takes place, and tests must fail.
const brokenResultFirst = true
