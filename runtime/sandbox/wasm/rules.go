package wasm

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"strings"
)

// source is this package, as it was built.
//
//go:embed *.go
var source embed.FS

// Rules names what decides whether Parse takes the code of a module, and what Rewrite makes of it: the caps, the bounds, and the
// code of this package, by what is written there. Under the same rules the same bytes give the same, whoever asks. Comments
// count, so that nobody has to remember to say that something has changed.
func Rules(caps Caps, b Bounds) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%+v %+v\n", caps.withDefaults(), b.withDefaults())
	files, err := fs.Glob(source, "*.go") // in the order of their names
	if err != nil {
		panic(err) // the pattern is a good one
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := source.ReadFile(name)
		if err != nil {
			panic(err) // it lies in the program
		}
		fmt.Fprintf(h, "%s\n", name)
		_ = binary.Write(h, binary.LittleEndian, uint64(len(text)))
		h.Write(text)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
