package scaffold

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed" // the archive
	"errors"
	"fmt"
	"io"
)

// vendored is what package pack makes.
//
//go:embed vendored.tar.gz
var vendored []byte

// unpack returns the files of the archive: go.mod, and those below vendor.
func unpack() (files []File, err error) {
	z, err := gzip.NewReader(bytes.NewReader(vendored))
	if err != nil {
		return nil, fmt.Errorf("unpack the SDK: %w", err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpack the SDK: %w", err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("unpack the SDK: %s: %w", h.Name, err)
		}
		files = append(files, File{h.Name, content})
	}
}
