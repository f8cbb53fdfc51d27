package runtime_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// unpack puts a journal of testdata/journals where it can be written.
func unpack(t *testing.T, folder string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Open(filepath.Join(dir, "journal.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "journal.db")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, z)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{path + ".blobs", path + ".owners"} {
		if err := os.Chmod(private, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestJournalsOfEarlierVersionsAreGoneOnWith(t *testing.T) {
	folders, err := filepath.Glob("../testdata/journals/schema*")
	if err != nil || len(folders) == 0 {
		t.Fatal("there are none", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) { goOnWith(t, unpack(t, folder)) })
	}
}

func goOnWith(t *testing.T, path string) {
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	m := newMachine(t, map[string]tool{"pay": func(g *guest, input string) string {
		g.must(toolabi.FuncClock, "")
		return `"` + g.must(toolabi.FuncHTTPSend, input) + `"`
	}})
	p := m.process(j, nil)
	drive := func(run string) (runtime.Result, error) {
		return p.Drive(t.Context(), run, runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			for _, in := range []string{"1", "2", "3"} {
				if _, err := r.Call(ctx, journal.Step("s"+in), "m.pay", []byte(in)); err != nil {
					return nil, err
				}
			}
			return []byte(`"all"`), nil
		}}})
	}
	if res, err := drive("done"); err != nil || !res.Replayed || string(res.Output) != `"all"` {
		t.Errorf("done: %+v, %v", res, err)
	}
	var failed *runtime.FailedError
	if _, err := drive("cancelled"); !errors.As(err, &failed) || failed.Outcome != journal.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
	for _, run := range []string{"uncertain", "cut"} {
		var u *runtime.UncertainError
		if _, err := drive(run); !errors.As(err, &u) || u.Step != "s2/2" {
			t.Fatalf("%s: %v", run, err)
		}
		if err := p.Resolve(t.Context(), run, "s2/2", runtime.Resolution{Happened: true, Reply: []byte("found")}); err != nil {
			t.Fatal(err)
		}
		if res, err := drive(run); err != nil || string(res.Output) != `"all"` {
			t.Errorf("%s: %s, %v", run, res.Output, err)
		}
	}
	if m.world.count("1") != 0 || m.world.count("2") != 0 || m.world.count("3") != 2 {
		t.Errorf("effects %v", m.world.effects)
	}
	for fault := range journal.Verify(t.Context(), j) {
		t.Errorf("the journal: %+v", fault)
	}
}
