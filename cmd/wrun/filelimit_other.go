//go:build !unix

package main

// ignoreFileLimit has nothing to do: this operating system has no such limit.
func ignoreFileLimit() {}
