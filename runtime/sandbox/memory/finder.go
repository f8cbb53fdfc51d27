//go:build unix

package memory

// finder tells which pages of a private mapping are its own: they may have been written since they were mapped. The others
// are as the file has them, or zero where there is no file.
type finder interface {
	// written shows the pieces of mem that are its own, in their order. mem begins with a page of the system.
	written(mem []byte, to visitor) error
}

// visitor is shown a piece of a memory, and where in it the piece begins. It is an interface so that nothing is allocated
// for what one counts.
type visitor interface{ visit(piece []byte, at uint64) }
