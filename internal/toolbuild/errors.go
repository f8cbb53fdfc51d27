package toolbuild

import (
	"fmt"
	"strings"
)

// NothingError says that there is nothing in a directory that a tool could be built from.
type NothingError struct {
	Dir string
	// Sources says that there are sources in C, Described that there is a tool.toml: of a tool in C one of them is missing.
	Sources, Described bool
}

// Error says what there would have to be.
func (e *NothingError) Error() string {
	switch {
	case e.Sources:
		return fmt.Sprintf("%s has sources in C and no %s, which says what the tool is", e.Dir, manifestFile)
	case e.Described:
		return fmt.Sprintf("%s has a %s, and no sources in C that it could be about", e.Dir, manifestFile)
	}
	return fmt.Sprintf("%s has no sources of a tool: neither Go, nor C with a %s", e.Dir, manifestFile)
}

// MissingError says that a part of a compiler is not there.
type MissingError struct {
	Lang Lang
	// Parts are what is missing, such as wasm-ld.
	Parts []string
	// Get says how to get all that is needed, in a line.
	Get string
}

// Error says what is missing.
func (e *MissingError) Error() string {
	return fmt.Sprintf("a tool in %s cannot be built here: there is no %s", e.Lang, strings.Join(e.Parts, ", and no "))
}

// FailedError says that a compiler failed.
type FailedError struct {
	Dir string
	// Output is what the compiler wrote, as it came.
	Output string
	Err    error
}

// Error says which directory does not build, without the output.
func (e *FailedError) Error() string { return fmt.Sprintf("build %s: %v", e.Dir, e.Err) }

// Unwrap returns Err.
func (e *FailedError) Unwrap() error { return e.Err }
