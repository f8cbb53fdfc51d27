package ledger

import (
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/internal/standin"
)

// record is one line of the file: a charge or a refund, with when it was accepted in milliseconds since 1970 and the
// digest of the request if it came with a key. Lines of earlier versions have no time.
type record struct {
	Charge *Charge `json:"charge,omitempty"`
	Refund *Refund `json:"refund,omitempty"`
	Digest []byte  `json:"digest,omitempty"`
	At     int64   `json:"at,omitempty"`
}

// openFile opens a file of records, one a line.
func openFile(name string) (f *standin.Lines, records []record, err error) {
	f, err = standin.OpenLines(name, into(&records))
	return f, records, err
}

// parseRecords reads whole lines and returns how many bytes they take; what follows the last line end is left out.
func parseRecords(b []byte) (records []record, size int64, err error) {
	size, err = standin.ParseLines(b, into(&records))
	if err != nil {
		return nil, 0, err
	}
	return records, size, nil
}

// into reads a line that is a record.
func into(records *[]record) func(int, []byte) error {
	return func(_ int, line []byte) error {
		var r record
		if err := decodeStrict(line, &r); err != nil {
			return err
		}
		if (r.Charge == nil) == (r.Refund == nil) {
			return errors.New("want either a charge or a refund")
		}
		if len(r.Digest) != 0 && len(r.Digest) != 32 {
			return fmt.Errorf("the digest has %d bytes, want 32", len(r.Digest))
		}
		*records = append(*records, r)
		return nil
	}
}
