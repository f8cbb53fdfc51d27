package boltdb_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

const content = "what the blob holds"

// storedBlob stores a blob and returns the name of its file.
func storedBlob(t *testing.T) (j *boltdb.Journal, d journal.Digest, path string) {
	t.Helper()
	j = create(t, t.TempDir())
	d, _, err := j.Put(t.Context(), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return j, d, filepath.Join(j.Path()+".blobs", d.String()[:2], d.String())
}

func TestADamagedBlobIsFoundAndReplaced(t *testing.T) {
	for name, bad := range map[string]string{"flipped": "What the blob holds", "cut off": "what", "longer": content + "!", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			j, d, path := storedBlob(t)
			e := created()
			e.Blob, e.Size = d, int64(len(content))
			if err := j.Append(t.Context(), "r", 0, e); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := journal.ReadBlob(t.Context(), j, d); !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("read: got %v, want %v", err, journal.ErrDamaged)
			}
			faults := 0
			for fault := range journal.Verify(t.Context(), j) {
				if faults++; !errors.Is(fault, journal.ErrDamaged) || fault.Run != "r" {
					t.Errorf("verify: got %v", fault)
				}
			}
			if faults != 1 {
				t.Errorf("verify found %d faults, want 1", faults)
			}
			if again, _, err := j.Put(t.Context(), strings.NewReader(content)); again != d || err != nil {
				t.Fatalf("put again: %s, %v", again.Short(), err)
			}
			if b, err := journal.ReadBlob(t.Context(), j, d); string(b) != content || err != nil {
				t.Errorf("after storing it again: %q, %v", b, err)
			}
		})
	}
}

func TestABlobThatIsNoFileIsDamaged(t *testing.T) {
	j, d, path := storedBlob(t)
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Stat(t.Context(), d); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("stat: got %v, want %v", err, journal.ErrDamaged)
	}
}

func TestAnEndedPutLeavesNothing(t *testing.T) {
	j, _, path := storedBlob(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(strings.NewReader("some"), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }), strings.NewReader("more"))
	if _, _, err := j.Put(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	files, err := os.ReadDir(filepath.Dir(filepath.Dir(path)))
	if err != nil || len(files) != 1 {
		t.Errorf("it left %v, %v", files, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
