package memory

import "errors"

// Region is where one linear memory lies. Its methods are not called concurrently.
type Region interface {
	// First returns the first size bytes, zero where nothing was written and otherwise as they were. It is never asked for more
	// than the region was made for, and what it returned before is not used any more. After an error everything is as it was.
	First(size uint64) ([]byte, error)
	// Adopt makes the first bytes those of the image, and all behind them zero. After an error it can be tried again, and otherwise
	// the region only be freed.
	Adopt(*Image) error
	// Reset makes everything as it was after Adopt, which there has to have been.
	Reset()
	// Held returns how many bytes of its own it may have at most.
	Held() uint64
	// Free gives the bytes back. Nothing may read or write them afterwards. It may be called again.
	Free() error
}

// Kind is how regions and images are made.
type Kind int

const (
	// Native is the best that the system has.
	Native Kind = iota
	// Portable keeps regions and images in Go's heap, and compares one with the other to reset it.
	Portable
)

// Reserve returns a region that can hold limit bytes. Until bytes of it are used it costs addresses and no memory; a Portable one
// costs neither.
func (k Kind) Reserve(limit uint64) (Region, error) {
	if limit > maxInt {
		return nil, errors.New("that is more than this processor can address")
	}
	limit = (limit + PageSize - 1) / PageSize * PageSize // the system protects and watches whole pages
	if k == Portable {
		return &copied{limit: limit}, nil
	}
	return reserve(limit)
}

const maxInt = uint64(^uint(0) >> 1)

// PageSize is the unit in which a linear memory grows, in bytes.
const PageSize = 64 << 10
