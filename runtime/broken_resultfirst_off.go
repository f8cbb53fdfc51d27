//go:build !broken_resultfirst

package runtime

const brokenResultFirst = false
