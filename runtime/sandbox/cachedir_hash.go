package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxCode is the length of a file of code that is looked at, in bytes; that of the largest module that is compiled is far
// below.
const maxCode = 2 << 30

// hash returns the sum of a regular file that is to have this name, and an error for anything else: a link, a pipe.
func (f codeFile) hash(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCode {
		return "", fmt.Errorf("%s (%s, %d bytes): %w", path, info.Mode(), info.Size(), errAltered)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	pieces, err := hashPieces(file, info.Size())
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %d\n", f.module, f.key, info.Size())
	for _, p := range pieces {
		h.Write(p[:])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashPiece is how much of a file is hashed by itself, in bytes, so that several processors can share the work.
const hashPiece = 1 << 20

// hashPieces returns the SHA-256 of each piece of a file of this size.
func hashPieces(file io.ReaderAt, size int64) ([][sha256.Size]byte, error) {
	sums := make([][sha256.Size]byte, (size+hashPiece-1)/hashPiece)
	workers := min(runtime.GOMAXPROCS(0), 4, len(sums))
	errs := make([]error, workers)
	var next atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			h, buf := sha256.New(), make([]byte, 64<<10)
			for errs[w] == nil {
				i := next.Add(1) - 1
				if i >= int64(len(sums)) {
					return
				}
				h.Reset()
				var n int64
				n, errs[w] = io.CopyBuffer(struct{ io.Writer }{h}, io.NewSectionReader(file, i*hashPiece, hashPiece), buf)
				if errs[w] == nil && n != min(hashPiece, size-i*hashPiece) {
					errs[w] = errAltered // it became shorter
				}
				h.Sum(sums[i][:0])
			}
		})
	}
	all.Wait()
	return sums, errors.Join(errs...)
}
