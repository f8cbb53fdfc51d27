// Package scaffold makes the directory of a new tool: sources that build and pass their own tests as they stand, without a
// network. It carries what a tool in Go is built from, the SDK and its dependencies, as the tree had them when
// vendored.tar.gz was made; package pack below makes it.
//
// It does not build anything: that is for package toolbuild.
package scaffold

//go:generate go run ./pack
