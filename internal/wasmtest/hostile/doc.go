// Package hostile makes modules that mean no good, for tests: malformed ones, those that want more than they may have, those
// that never end, and those that are a burden to whoever reads or compiles them. Every one is written by the code here, and
// each says what a sandbox must make of it. The package runs none of them.
package hostile
