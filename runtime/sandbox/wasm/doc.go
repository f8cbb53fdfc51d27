// Package wasm reads core WebAssembly modules that nobody trusts and writes them again with bounds built in. Bytes go in;
// what comes out is the structure of the module, an error that names the cap or the offset, or a module that computes the
// same and can be stopped.
//
// It follows the binary format of WebAssembly 2.0 (W3C, core specification, chapter 5). No count and no length of a module
// is believed before it was held against the bytes that are left, and nothing is allocated for it before that.
//
// It knows nothing of wrun's ABI and manifests, which are the sandbox's to judge, it does not validate types, which the
// compiler does on what is written here, and it runs nothing.
package wasm
