package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxModule is the longest module in bytes, which is also the default of wasm.Caps.
const maxModule = 64 << 20

// ReadFile reads a module file. A directory, pipe or device, an empty file and one over 64 MiB are refused with a *LoadError
// before anything is read; other errors are those of the file system. The file is read once: what is judged and what is run
// are the same bytes.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read module: %w", err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("read module: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, fmt.Errorf("read module: %w", err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(f, maxModule+1)); err != nil {
		return nil, fmt.Errorf("read module: %w", err)
	}
	return b.Bytes(), named(checkSize(int64(b.Len())), path)
}

func checkFile(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return named(refuse(NotAFile, "it is a directory"), path)
	case !info.Mode().IsRegular():
		return named(refuse(NotAFile, "it is not a regular file (%s)", info.Mode().Type()), path)
	}
	return named(checkSize(info.Size()), path)
}

func checkSize(size int64) error {
	if size == 0 {
		return refuse(Empty, "it is empty")
	}
	if size > maxModule {
		return refuse(TooBig, "it has %d bytes, at most %d are allowed", size, maxModule)
	}
	return nil
}
