// Command pack writes vendored.tar.gz, which package scaffold carries: the sources of the SDK and of all that it is made of, laid
// out as the vendor directory of a tool, with their licences, and the go.mod that goes with it. Run it in internal/scaffold, with
//
//	go generate ./internal/scaffold
//
// It takes the SDK from the tree that it is run in, and everything else from the module cache. The same sources give the same
// bytes, but for what another version of Go may make of compressing them; so a test compares what is in the archive.
package main

import (
	"bytes"
	"fmt"
	"os"
)

// archive is where the archive lies, from internal/scaffold on.
const archive = "vendored.tar.gz"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run() error {
	files, err := collect()
	if err != nil {
		return err
	}
	b, err := compress(files)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(archive); err == nil && bytes.Equal(old, b) {
		return nil
	}
	return os.WriteFile(archive, b, 0o644)
}
