//go:build !unix

package grantfile

import "io/fs"

func trust(string, fs.FileInfo) error { return nil }
