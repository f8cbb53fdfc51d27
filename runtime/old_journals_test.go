package runtime_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/journal/journaltest"
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

// Backups and exports that a version of wrun wrote are put back and imported for ever.
func TestBundlesOfEarlierVersionsAreGoneOnWith(t *testing.T) {
	folders, err := filepath.Glob("../testdata/journals/bundle*")
	if err != nil || len(folders) == 0 {
		t.Fatal("there are none", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			backup, err := os.Open(filepath.Join(folder, "all.backup"))
			if err != nil {
				t.Fatal(err)
			}
			defer backup.Close()
			done, err := boltdb.Restore(t.Context(), path, backup, boltdb.RestoreOptions{})
			if err != nil || done.Unfinished != 4 {
				t.Fatalf("%+v, %v", done, err)
			}
			for _, run := range []string{"uncertain", "cut"} { // whose next steps must not be repeated
				resumeRestored(t, path, run)
			}
			goOnWith(t, path)
			imported(t, filepath.Join(folder, "uncertain.wrun"))
		})
	}
}

// resumeRestored settles what is in doubt of a run that was put back: then it waits until somebody confirms it.
func resumeRestored(t *testing.T, path, run string) {
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	m := oldMachine(t)
	p := m.process(j, nil)
	var u *runtime.UncertainError
	if _, err := p.Drive(t.Context(), run, payThree()); !errors.As(err, &u) || u.Step != "s2/2" {
		t.Errorf("%s: %v", run, err)
	}
	if err := p.Confirm(t.Context(), run, "somebody", "a test"); err != nil {
		t.Error(err)
	}
}

// imported holds that a run which was exported before it was finished can be read, and not driven.
func imported(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j, err := boltdb.Create(t.Context(), filepath.Join(t.TempDir(), "journal.db"), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	done, err := j.Import(t.Context(), f, boltdb.ImportOptions{})
	if err != nil || done.Run != "uncertain" || done.Finished || done.Blobs != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := oldMachine(t).process(j, nil).Drive(t.Context(), "uncertain", payThree()); !errors.Is(err, journal.ErrImported) {
		t.Errorf("drive: %v, want %v", err, journal.ErrImported)
	}
	for fault := range journal.Verify(t.Context(), j) {
		t.Errorf("the journal: %+v", fault)
	}
}

// oldMachine has the tools of the journals of testdata/journals: pay reads the clock and sends once; ask and rest, of those since schema
// 2, wait; free does nothing, in those since schema 3.
func oldMachine(t *testing.T) *machine {
	return newMachine(t, map[string]tool{
		"pay": func(g *guest, input string) string {
			g.must(toolabi.FuncClock, "")
			return `"` + g.must(toolabi.FuncHTTPSend, input) + `"`
		},
		"free": func(*guest, string) string { return `"free"` },
		"ask": func(g *guest, _ string) string {
			g.must(toolabi.FuncApprove, encoded(t, toolabi.ApproveRequest{Text: "go on?"}))
			return `"yes"`
		},
		"rest": func(g *guest, _ string) string {
			g.must(toolabi.FuncSleep, encoded(t, toolabi.SleepRequest{MS: 30_000}))
			return `"rested"`
		},
	})
}

// payThree drives three payments.
func payThree() runtime.DriveOptions {
	return runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		for _, in := range []string{"1", "2", "3"} {
			if _, err := r.Call(ctx, journal.Step("s"+in), "m.pay", []byte(in)); err != nil {
				return nil, err
			}
		}
		return []byte(`"all"`), nil
	}}}
}

// callOne drives a single call.
func callOne(tool string) runtime.DriveOptions {
	return runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "s1", "m."+tool, []byte(`{}`))
	}}}
}

// TestWriteAJournalOfThisVersion writes what testdata/journals keeps of a version: WRUN_WRITE_JOURNAL names the directory.
func TestWriteAJournalOfThisVersion(t *testing.T) {
	dir := os.Getenv("WRUN_WRITE_JOURNAL")
	if dir == "" {
		t.Skip("SKIPPED: it writes new fixtures, with WRUN_WRITE_JOURNAL=DIRECTORY")
	}
	m := oldMachine(t)
	open := func() *boltdb.Journal {
		j, err := boltdb.Create(t.Context(), filepath.Join(dir, "journal.db"), boltdb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	drive := func(j *boltdb.Journal, run string, crash int, opts runtime.DriveOptions) error {
		var store journaltest.Store = j
		if crash > 0 {
			store = journaltest.CrashBefore(j, crash)
		}
		p := m.process(store, nil)
		spec, modules := m.spec(`{}`)
		if run == "labelled" {
			spec.Labels = map[string]string{"env": "test", "team": "b"}
		}
		if _, err := p.Start(t.Context(), run, spec, modules, true); err != nil {
			t.Fatal(err)
		}
		if run == "cancelled" {
			if err := p.Cancel(t.Context(), run, "somebody", "a test"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := p.Drive(t.Context(), run, opts)
		return err
	}
	j := open()
	var failed *runtime.FailedError
	var uncertain *runtime.UncertainError
	var waiting *runtime.WaitingError
	if err := drive(j, "done", 0, payThree()); err != nil {
		t.Error(err)
	}
	if err := drive(j, "labelled", 0, callOne("free")); err != nil {
		t.Error(err)
	}
	if err := m.process(j, nil).Label(t.Context(), "labelled", "somebody", map[string]string{"team": "a"}); err != nil {
		t.Error(err)
	}
	m.world.drop, m.world.dropOnly = 1, "2"
	if err := drive(j, "uncertain", 0, payThree()); !errors.As(err, &uncertain) {
		t.Error(err)
	}
	if err := drive(j, "cancelled", 0, payThree()); !errors.As(err, &failed) {
		t.Error(err)
	}
	ask := callOne("ask")
	ask.ApproveBy = time.Now().Add(200 * 365 * 24 * time.Hour)
	for run, opts := range map[string]runtime.DriveOptions{"asked": ask, "slept": callOne("rest")} {
		if err := drive(j, run, 0, opts); !errors.As(err, &waiting) {
			t.Error(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open()
	if err := drive(j, "cut", 5, payThree()); err == nil { // before the result of the second send
		t.Error("the process did not die")
	}
	for file, write := range map[string]func(w io.Writer) error{
		"all.backup": func(w io.Writer) error { _, err := j.Backup(t.Context(), w, boltdb.CopyOptions{}); return err },
		"uncertain.wrun": func(w io.Writer) error {
			_, err := j.Export(t.Context(), "uncertain", w, boltdb.CopyOptions{})
			return err
		},
	} {
		if err := bundle.Write(t.Context(), filepath.Join(dir, file), false, write); err != nil {
			t.Error(err)
		}
	}
	for s, err := range j.List(t.Context(), journal.Query{}) {
		t.Log(s.Run, s.Status(), s.InOrder(), s.Len, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func goOnWith(t *testing.T, path string) {
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	m := oldMachine(t)
	p := m.process(j, nil)
	drive := func(run string) (runtime.Result, error) { return p.Drive(t.Context(), run, payThree()) }
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
	waits(t, p, j)
	for _, run := range []string{"done", "uncertain"} {
		if err := p.Label(t.Context(), run, "somebody", map[string]string{"seen": "yes"}); err != nil {
			t.Error(err)
		}
	}
	if m.world.count("1") != 0 || m.world.count("2") != 0 || m.world.count("3") != 2 {
		t.Errorf("effects %v", m.world.effects)
	}
	for fault := range journal.Verify(t.Context(), j) {
		t.Errorf("the journal: %+v", fault)
	}
}

// waits goes on with the runs that journals have since schema 2, and looks at the one that they have since schema 3.
func waits(t *testing.T, p *process, j *boltdb.Journal) {
	for s, err := range j.List(t.Context(), journal.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		switch s.Run {
		case "asked":
			if err := p.Answer(t.Context(), s.Run, "s1/1", runtime.Answer{Yes: true, By: "somebody"}); err != nil {
				t.Error(err)
			}
			if res, err := p.Drive(t.Context(), s.Run, callOne("ask")); err != nil || string(res.Output) != `"yes"` {
				t.Errorf("asked: %s, %v", res.Output, err)
			}
		case "slept":
			if res, err := p.Drive(t.Context(), s.Run, callOne("rest")); err != nil || string(res.Output) != `"rested"` {
				t.Errorf("slept: %s, %v", res.Output, err)
			}
		case "labelled":
			if want := map[string]string{"env": "test", "team": "a"}; !maps.Equal(s.Labels, want) {
				t.Errorf("labelled has the labels %v, want %v", s.Labels, want)
			}
		}
	}
}
