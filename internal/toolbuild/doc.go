// Package toolbuild makes a module with its manifest of a directory with the sources of a tool, by what lies in it: Go with the
// SDK, or C with wrun.h and tool.toml. The same sources and the same compiler give the same bytes, wherever the directory lies,
// since the digest of the bytes is what a module is known by.
//
// It starts compilers, which read what they like: who builds a tool trusts its sources as they trust a program that they run.
// It does not judge what a module may do; the sandbox does.
package toolbuild
