package fakemodel

import (
	"encoding/hex"
	"fmt"

	"github.com/wrun-dev/wrun/internal/standin"
)

// openFile opens a file of bills, one a line.
func openFile(name string) (f *standin.Lines, bills []Bill, err error) {
	f, err = standin.OpenLines(name, into(&bills))
	return f, bills, err
}

// parseBills reads whole lines and returns how many bytes they take; what follows the last line end is left out.
func parseBills(b []byte) (bills []Bill, size int64, err error) {
	size, err = standin.ParseLines(b, into(&bills))
	if err != nil {
		return nil, 0, err
	}
	return bills, size, nil
}

// into reads a line that is the next bill.
func into(bills *[]Bill) func(int, []byte) error {
	return func(n int, line []byte) error {
		var bill Bill
		if err := decodeExactly(line, &bill); err != nil {
			return err
		}
		if digest, err := hex.DecodeString(bill.Digest); bill.N != n || err != nil || len(digest) != 32 {
			return fmt.Errorf("this is not bill %d", n)
		}
		*bills = append(*bills, bill)
		return nil
	}
}
