package jq

import "github.com/itchyny/gojq"

// Equal says whether two values of JSON are the same to jq: numbers by what they are and not by how they are written, objects
// without regard to the order of their keys.
func Equal(a, b any) bool { return gojq.Compare(a, b) == 0 }
