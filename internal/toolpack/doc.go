// Package toolpack reads and writes packages of tools: one file that holds a module, its manifest as JSON for people, and the texts
// that go along with it. A package is a tar in its plain form, so that everybody has a program that looks into it, with these
// files and no others, in this order:
//
//	manifest.json           {"wrun_package": 1, "digest": …, "manifest": …}: the module's manifest, and the SHA-256 of the module
//	README.md               what its author says of it; may be missing
//	LICENSE                 on what terms; may be missing
//	THIRD_PARTY_LICENSES    those of what was built into it; may be missing
//	module.wasm             the module
//
// It is not compressed: a tar of the same files is the same bytes with every version of whatever compresses, so the digest of a
// package can be published; and what cannot be inflated cannot be a bomb. What is read has to be, byte for byte, what Write would
// have written of it, so that there is no second way of saying anything: no links, paths, extended headers, sparse files, or bytes
// that nobody reads.
//
// It does not judge modules, and grants nothing: what a package says of its module is held against the module, and only that counts.
package toolpack
