package main

import (
	"bytes"
	"testing"
)

// A report is as it was written, and stops being so with any change.
func FuzzSeal(f *testing.F) {
	f.Add("# A\n", uint16(0), byte('x'))
	f.Add("", uint16(3), byte('\n'))
	f.Add(string(seal("# A report in a report\n")), uint16(9), byte(0))
	f.Fuzz(func(t *testing.T, text string, at uint16, b byte) {
		file := seal(text)
		if !isSealed(file) {
			t.Fatalf("%q is not as it was written", file)
		}
		changed := bytes.Clone(file)
		i := int(at) % len(changed)
		if changed[i] == b {
			b++
		}
		if changed[i] = b; isSealed(changed) {
			t.Fatalf("%q became %q, and nobody notices", file, changed)
		}
		if isSealed(append(file, b)) || isSealed(file[:len(file)-1]) {
			t.Fatalf("%q is longer or shorter, and nobody notices", file)
		}
	})
}
