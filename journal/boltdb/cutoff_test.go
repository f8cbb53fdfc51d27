package boltdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// childCutOff does something with a journal and is killed at a point of it.
func childCutOff(ctx context.Context, path, what, file, point string) error {
	die := func(p string) {
		if p == point {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			fmt.Println("ERROR it lives", err)
			select {} // until the kill has come
		}
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if what == "restore" {
		opts := boltdb.RestoreOptions{Force: true}
		boltdb.OnRestorePoint(&opts, die)
		_, err = boltdb.Restore(ctx, path, in, opts)
		return err
	}
	j, err := boltdb.Open(ctx, path, boltdb.Options{})
	if err != nil {
		return err
	}
	boltdb.OnPoint(j, die)
	switch what {
	case "compact":
		_, err = j.Compact(ctx, boltdb.CopyOptions{})
	case "import":
		_, err = j.Import(ctx, in, boltdb.ImportOptions{})
	case "backup":
		err = bundle.Write(ctx, file+".new", false, func(w io.Writer) error {
			_, err := j.Backup(ctx, w, boltdb.CopyOptions{})
			return err
		})
	}
	return err
}

// Whatever is cut off wherever, a whole journal is there afterwards: as it was before, or as it was to be. The next maintenance works,
// and leaves nothing behind.
func TestACopyThatIsCutOffLeavesAWholeJournal(t *testing.T) {
	for what, points := range map[string]map[string]bool{ // whether it is done by then
		"backup":  {"copied": false, "caught up": false, "logs written": false},
		"compact": {"copied": false, "caught up": false, "built": false, "renamed": true},
		"restore": {"filled": false, "built": false, "kept": false, "renamed": true},
		"import":  {"begun": false, "part": false, "filled": false},
	} {
		for point, done := range points {
			t.Run(what+" at "+point, func(t *testing.T) {
				j := stocked(t, t.TempDir())
				dir, path := filepath.Dir(j.Path()), j.Path()
				old := look(t, j)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				other := create(t, t.TempDir())
				if err := errors.Join(begin(t.Context(), other, "another"), count(t.Context(), other, "another", "key1", 2)); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "bundle")
				b := backup(t, other)
				if what == "import" {
					b = export(t, other, "another")
				}
				if err := os.WriteFile(file, b, 0o600); err != nil {
					t.Fatal(err)
				}
				c := start(t, "cut off", path, what, file, point)
				for c.lines.Scan() {
					t.Logf("the child: %s", c.lines.Text())
				}
				if err := c.Wait(); err == nil || c.ProcessState.Exited() {
					t.Fatalf("it was not killed: %v", c.ProcessState)
				}
				want := old
				if what == "restore" && done {
					want = look(t, other)
				}
				now := open(t, path)
				if got := look(t, now); !got.equal(want) {
					t.Errorf("it holds something else: %+v", got)
				}
				journaltest.Check(t, now)
				if err := begin(t.Context(), now, "later"); err != nil {
					t.Error(err)
				}
				if what == "import" {
					if _, err := now.Import(t.Context(), bytes.NewReader(b), boltdb.ImportOptions{}); err != nil {
						t.Errorf("once more: %v", err)
					}
				} else if _, err := now.Compact(t.Context(), boltdb.CopyOptions{}); err != nil {
					t.Errorf("the next maintenance: %v", err)
				}
				if marks, entries, err := boltdb.Leftovers(t.Context(), now); marks != 0 || entries != 0 || err != nil {
					t.Errorf("left: %d marks, %d entries, %v", marks, entries, err)
				}
				files, err := filepath.Glob(filepath.Join(dir, ".journal.db*"))
				twins, _ := filepath.Glob(path + ".replaced-*")
				if err != nil || len(files) != 0 || len(twins) > 0 != (what == "restore" && done) {
					t.Errorf("left behind: %v, %v, %v", files, twins, err)
				}
				if what == "backup" && bundle.Is(file+".new") {
					t.Error("a backup that is not whole has its name")
				}
			})
		}
	}
}
