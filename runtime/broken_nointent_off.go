//go:build !broken_nointent

package runtime

// A negative control: with the build tag broken_nointent an effect takes place before its intent is written, and tests must fail.
const brokenNoIntent = false
