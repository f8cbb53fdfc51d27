//go:build !broken_noroom

package runtime

// A negative control: with the build tag broken_noroom no space is held for the outcomes of effects, and tests must fail.
const brokenNoRoom = false
