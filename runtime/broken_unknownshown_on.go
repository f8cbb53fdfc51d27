//go:build broken_unknownshown

package runtime

// A negative control: with the build tag broken_unknownshown an unknown outcome is shown to the tool as a failure, and tests must fail.
const brokenUnknownShown = true
