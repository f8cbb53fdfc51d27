//go:build unix

package memory

// finder tells which pages of a private mapping were written. It is for one region.
type finder interface {
	// follow begins with a region, whose image is mapped. It is called once.
	follow(region []byte) error
	// clean says that pages of it are not written: they can be used now, or were given back.
	clean(pages []byte) error
	// written shows, in their order, all pieces of the region's beginning that were written since they were clean, and perhaps
	// some that were not. The others are as the image has them, or zero behind it.
	written(begin []byte, to visitor) error
}

// visitor is shown a piece of a region, and where in it the piece begins. It is an interface so that nothing is allocated for
// what one counts.
type visitor interface{ visit(piece []byte, at uint64) }
