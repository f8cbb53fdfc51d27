//go:build !unix

package sandbox

func newRegion(limit uint64) (region, error) { return newCopied(limit) }
