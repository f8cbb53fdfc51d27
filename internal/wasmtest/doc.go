// Package wasmtest makes modules for tests: it builds guests written in Go, and writes small and hostile modules byte by
// byte. It is not for anything but tests, and no test needs an opaque binary or a tool beside the Go toolchain.
package wasmtest
