// Package script answers an agent as a model would, from a YAML file of replies that are chosen by what the request holds.
// Tests, examples and demonstrations use it where a real model would cost money and say something else each time.
// docs/script.md describes the file for those who write one.
//
// The memory of a script is nothing but the request: the same request always gets the same answer, whatever was asked
// before, so that a run which is resumed in another process goes on as it would have gone on. The package opens no file and
// no connection.
package script
