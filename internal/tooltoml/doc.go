// Package tooltoml reads the manifest of a module as people write it: a file tool.toml. It is strict: a field that there is
// not, a value of another type or a time that is none is a mistake with its line, and nothing is guessed.
//
// It does not judge a module, and what a manifest may say is for toolabi to know.
package tooltoml
