// Package grantfile reads and writes grants as people write them: as flags, each a word and a value, and as the files of the
// configuration that hold the same words: grants.yaml, and the record of a tool that was added.
//
// It does not decide what is granted to whom, and reads nothing but what it is told to.
package grantfile
