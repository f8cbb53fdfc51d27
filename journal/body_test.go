package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

func TestLongBodiesBecomeBlobs(t *testing.T) {
	m := journaltest.NewMem()
	for _, size := range []int{0, 1, journal.MaxInline, journal.MaxInline + 1} {
		e := record("x")
		body := bytes.Repeat([]byte("b"), size)
		if err := journal.SetBody(t.Context(), m, &e, body); err != nil {
			t.Fatal(err)
		}
		if inline := e.Blob.IsZero(); inline != (size <= journal.MaxInline) {
			t.Errorf("a body of %d bytes is inline: %t", size, inline)
		}
		if got, err := journal.Body(t.Context(), m, e); !bytes.Equal(got, body) || err != nil {
			t.Errorf("a body of %d bytes comes back as %d, %v", size, len(got), err)
		}
	}
}

func TestBodiesWithoutBlobs(t *testing.T) {
	long := make([]byte, journal.MaxInline+1)
	e := record("x")
	if err := journal.SetBody(t.Context(), nil, &e, long); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("got %v, want %v", err, journal.ErrInvalid)
	}
	e.Blob, e.Size = journal.DigestOf(long), int64(len(long))
	if _, err := journal.Body(t.Context(), nil, e); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("got %v, want %v", err, journal.ErrDamaged)
	}
	if _, err := journal.Body(t.Context(), journaltest.NewMem(), e); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("a blob that is missing: got %v, want %v", err, journal.ErrDamaged)
	}
}
