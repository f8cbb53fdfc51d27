package journaltest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testBlobs(t *testing.T) {
	j := m.open(t)
	for _, size := range []int{0, 1, 64 << 10, 3 << 20} {
		b := bytes.Repeat([]byte{byte(size)}, size)
		for range 2 { // storing what is there is fine
			d, n, err := j.Put(t.Context(), iotest.HalfReader(bytes.NewReader(b)))
			if err != nil || n != int64(size) || d != journal.DigestOf(b) {
				t.Fatalf("put %d bytes: got %s, %d, %v", size, d.Short(), n, err)
			}
		}
		if n, err := j.Stat(t.Context(), journal.DigestOf(b)); n != int64(size) || err != nil {
			t.Errorf("stat of %d bytes: got %d, %v", size, n, err)
		}
		if got, err := journal.ReadBlob(t.Context(), j, journal.DigestOf(b)); !bytes.Equal(got, b) || err != nil {
			t.Errorf("read of %d bytes: got %d, %v", size, len(got), err)
		}
	}
	none := journal.DigestOf([]byte("never stored"))
	if _, err := j.Stat(t.Context(), none); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("stat of what is not there: got %v, want %v", err, journal.ErrNotFound)
	}
	if _, err := j.Open(t.Context(), none); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("open of what is not there: got %v, want %v", err, journal.ErrNotFound)
	}
	broken := errors.New("the source broke")
	source := io.MultiReader(strings.NewReader("never stored"), iotest.ErrReader(broken))
	if _, _, err := j.Put(t.Context(), source); !errors.Is(err, broken) {
		t.Errorf("put from a broken source: got %v, want %v", err, broken)
	}
	if _, err := j.Stat(t.Context(), none); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a broken source left a blob: %v", err)
	}
	t.Run("bodies", m.blobBodies)
	t.Run("named", m.blobsNamed)
}

func (m Maker) blobBodies(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	for i, size := range []int{0, journal.MaxInline, journal.MaxInline + 1, 1 << 20} {
		b := bytes.Repeat([]byte("b"), size)
		e := record(3, "body")
		if err := journal.SetBody(t.Context(), j, &e, b); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, j, "r", uint64(2+i), e)
		got, err := journal.Body(t.Context(), j, entries(t, j, "r", uint64(2+i))[0])
		if !bytes.Equal(got, b) || err != nil {
			t.Errorf("a body of %d bytes: got %d, %v", size, len(got), err)
		}
	}
}

// No entry names a blob that is not there.
func (m Maker) blobsNamed(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	d, n, err := j.Put(t.Context(), strings.NewReader("stored"))
	if err != nil {
		t.Fatal(err)
	}
	none := journal.DigestOf([]byte("never stored"))
	body, ref := record(3, "body"), record(3, "ref")
	body.Blob, body.Size = none, 12
	ref.Refs = []journal.Digest{d, none}
	refuse(t, j, journal.ErrDamaged, "r", 2, body)
	refuse(t, j, journal.ErrDamaged, "r", 2, ref)
	body.Blob, body.Size, ref.Refs = d, n, []journal.Digest{d, d}
	mustAppend(t, j, "r", 2, body, ref)
	mustAppend(t, j, "r", 4, body) // which another entry names already
}
