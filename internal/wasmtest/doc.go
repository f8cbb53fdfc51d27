// Package wasmtest makes modules for tests: it builds guests written in Go, and writes small and hostile modules byte by
// byte. It is not for anything but tests, and no test needs a tool beside the Go toolchain. The two binaries among the guests, from C
// and Rust, stand beside their sources and how they were built; see Committed.
package wasmtest
