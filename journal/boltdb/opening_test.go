package boltdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// openAs asserts that opening what is at path fails with an error, and leaves it as it was.
func openAs(t *testing.T, path string, want error) {
	t.Helper()
	before, _ := os.ReadFile(path)
	info, _ := os.Lstat(path)
	for _, open := range []func() (*boltdb.Journal, error){
		func() (*boltdb.Journal, error) { return boltdb.Open(t.Context(), path, boltdb.Options{}) },
		func() (*boltdb.Journal, error) { return boltdb.Create(t.Context(), path, boltdb.Options{}) },
	} {
		j, err := open()
		if err == nil {
			j.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	after, _ := os.ReadFile(path)
	if now, _ := os.Lstat(path); !bytes.Equal(before, after) || info != nil && !os.SameFile(info, now) {
		t.Errorf("opening changed what was there")
	}
}

func TestOpenNeverMakesAJournal(t *testing.T) {
	dir := t.TempDir()
	_, err := boltdb.Open(t.Context(), filepath.Join(dir, "sub", "journal.db"), boltdb.Options{})
	if !errors.Is(err, journal.ErrNoJournal) {
		t.Errorf("got %v, want %v", err, journal.ErrNoJournal)
	}
	_, err = boltdb.Open(t.Context(), filepath.Join(dir, "journal.db"), boltdb.Options{})
	if !errors.Is(err, journal.ErrNoJournal) {
		t.Errorf("got %v, want %v", err, journal.ErrNoJournal)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("it left %v behind", left)
	}
}

func TestOpenRefusesWhatIsNoJournal(t *testing.T) {
	write := func(t *testing.T, content string) string {
		path := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, content := range map[string]string{
		"a word":   "hello\n",
		"text":     strings.Repeat("a line of text\n", 5000),
		"sqlite":   "SQLite format 3\x00" + strings.Repeat("\x10", 1<<16),
		"one byte": "x",
	} {
		t.Run(name, func(t *testing.T) { openAs(t, write(t, content), journal.ErrForeign) })
	}
	for _, n := range []int{0, 1, 4096, 1 << 16} {
		t.Run(fmt.Sprint(n, " zeros"), func(t *testing.T) { openAs(t, write(t, strings.Repeat("\x00", n)), journal.ErrDamaged) })
	}
	t.Run("directory", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := boltdb.Open(t.Context(), dir, boltdb.Options{}); !errors.Is(err, journal.ErrForeign) {
			t.Errorf("got %v, want %v", err, journal.ErrForeign)
		}
	})
	for _, unsynced := range []bool{false, true} {
		t.Run(fmt.Sprint("another program's bbolt file, free list left out: ", unsynced), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: unsynced})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err }); err != nil {
				t.Fatal(err)
			}
			db.Close()
			openAs(t, path, journal.ErrForeign)
		})
	}
	t.Run("symbolic link", func(t *testing.T) {
		dir := t.TempDir()
		create(t, dir).Close()
		link := filepath.Join(dir, "link.db")
		if err := os.Symlink(filepath.Join(dir, "journal.db"), link); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
		openAs(t, link, journal.ErrForeign)
	})
	t.Run("writable by everyone", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("no such permission on Windows")
		}
		dir := t.TempDir()
		j := create(t, dir)
		j.Close()
		os.Chmod(j.Path(), 0o666)
		if _, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{}); err == nil || !strings.Contains(err.Error(), "chmod") {
			t.Errorf("got %v, want advice", err)
		}
	})
}

func TestOpenRefusesANewerJournal(t *testing.T) {
	dir := t.TempDir()
	j := create(t, dir)
	if err := boltdb.EditHeader(t.Context(), j, "schema", binary.BigEndian.AppendUint64(nil, 99)); err != nil {
		t.Fatal(err)
	}
	j.Close()
	openAs(t, j.Path(), journal.ErrNewer)
}

func TestOpenRefusesADamagedHeader(t *testing.T) {
	for key, want := range map[string]error{"mark": journal.ErrDamaged, "schema": journal.ErrDamaged, "id": journal.ErrDamaged, "created": journal.ErrDamaged, "incarnation": journal.ErrDamaged, "sum": journal.ErrDamaged} {
		dir := t.TempDir()
		j := create(t, dir)
		if err := boltdb.EditHeader(t.Context(), j, key, []byte("?")); err != nil {
			t.Fatal(err)
		}
		j.Close()
		openAs(t, j.Path(), want)
	}
}

func TestCreateMakesPrivateFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such permissions on Windows")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	j := create(t, dir)
	journaltest.CheckOnCleanup(t, j)
	if _, err := j.Owner(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.Put(t.Context(), strings.NewReader("blob")); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
		return nil
	})
	if err != nil || files != 8 {
		t.Errorf("%d files, %v, want journal, lock, wait, owner, blob, and of pins the lock, the handle's lock and the blob's", files, err)
	}
}

func TestAJournalThatDisappearsIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		then func(path string) error
		want error
	}{
		"deleted": {os.Remove, journal.ErrNoJournal},
		"renamed": {func(path string) error { return os.Rename(path, path+".old") }, journal.ErrNoJournal},
		"another in its place": {func(path string) error {
			other, err := boltdb.Create(t.Context(), path+".new", boltdb.Options{})
			if err != nil {
				return err
			}
			return errors.Join(other.Close(), os.Rename(path+".new", path))
		}, journal.ErrForeign},
	} {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", open: ", open), func(t *testing.T) {
				if runtime.GOOS == "windows" && open {
					t.Skip("Windows does not let go of open files")
				}
				j := create(t, t.TempDir())
				if err := j.Append(t.Context(), "r", 0, created()); err != nil {
					t.Fatal(err)
				}
				release := letGo(t, j)
				if open {
					var err error
					if release, err = boltdb.Hold(t.Context(), j); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.then(j.Path()); err != nil {
					t.Fatal(err)
				}
				if err := j.Append(t.Context(), "r", 1, record("x")); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				release()
				if err := j.Append(t.Context(), "r", 1, record("x")); !errors.Is(err, journal.ErrUnusable) {
					t.Errorf("got %v, want %v", err, journal.ErrUnusable)
				}
			})
		}
	}
}

// letGo makes j close its file, as it does when somebody else wants it.
func letGo(t *testing.T, j *boltdb.Journal) (release func()) {
	t.Helper()
	other, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {}
}

// Of the journal's id every idempotency key is made, so a changed bit of it must not go unnoticed.
func TestAChangedIDIsDamage(t *testing.T) {
	for _, key := range []string{"id", "incarnation"} {
		j := create(t, t.TempDir())
		if err := boltdb.EditHeader(t.Context(), j, key, make([]byte, 32)); err != nil {
			t.Fatal(err)
		}
		j.Close()
		openAs(t, j.Path(), journal.ErrDamaged)
	}
}
