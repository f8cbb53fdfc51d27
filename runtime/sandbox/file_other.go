//go:build !unix

package sandbox

const openFlags = 0
