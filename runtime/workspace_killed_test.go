package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
)

// What a process that may be killed is told: the journal, the workspace, the run, and after how many things that it does with the
// journal it kills itself; 0 for never.
const (
	envFilesJournal = "WRUN_FILES_JOURNAL"
	envFilesDir     = "WRUN_FILES_DIR"
	envFilesRun     = "WRUN_FILES_RUN"
	envFilesKill    = "WRUN_FILES_KILL"
)

// dying is a journal whose process kills itself at a chosen moment: around an append, around and inside of the storing of a blob,
// before the log is looked at, which is what happens between a temporary file and its name, and inside of the reading of a blob,
// which is what happens in the middle of one.
type dying struct {
	*boltdb.Journal
	left *atomic.Int64
}

func (d dying) moment() {
	if d.left.Add(-1) != 0 {
		return
	}
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = p.Kill()
	}
	select {}
}

func (d dying) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	d.moment()
	defer d.moment()
	return d.Journal.Append(ctx, run, at, entries...)
}

func (d dying) Put(ctx context.Context, r io.Reader) (journal.Digest, int64, error) {
	defer d.moment()
	return d.Journal.Put(ctx, dyingReader{r, d})
}

func (d dying) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	d.moment()
	return d.Journal.List(ctx, q)
}

func (d dying) Open(ctx context.Context, digest journal.Digest) (io.ReadCloser, error) {
	r, err := d.Journal.Open(ctx, digest)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{dyingReader{r, d}, r}, nil
}

type dyingReader struct {
	io.Reader
	d dying
}

// Read reads a little, so that there is a middle.
func (r dyingReader) Read(p []byte) (int, error) {
	r.d.moment()
	return r.Reader.Read(p[:min(len(p), 4)])
}

// filesChild drives a run of files in this process.
func filesChild(t *testing.T, driver runtime.Driver, tools map[string]tool) {
	left := new(atomic.Int64)
	n, err := strconv.ParseInt(os.Getenv(envFilesKill), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	left.Store(n)
	j, err := boltdb.Create(t.Context(), os.Getenv(envFilesJournal), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	m := &machine{t: t, world: newWorld(), tools: tools}
	res, err := m.driveRunIn(m.process(dying{j, left}, filing), os.Getenv(envFilesRun), os.Getenv(envFilesDir), driver)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("OUTPUT %s%s\n", res.Output, map[bool]string{true: replayed}[res.Replayed])
}

// replayed is behind the output of a run that had ended before.
const replayed = " again"

// driveKilled starts this test again in a process of its own. killed says that it killed itself.
func driveKilled(t *testing.T, file, dir, run string, kill int) (output string, killed bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.SplitN(t.Name(), "/", 2)[0]+"$", "-test.count=1")
	c.Env = append(os.Environ(), envFilesJournal+"="+file, envFilesDir+"="+dir, envFilesRun+"="+run, envFilesKill+"="+strconv.Itoa(kill))
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && !exit.Exited() {
		return "", true
	}
	if _, after, ok := bytes.Cut(out, []byte("OUTPUT ")); ok && err == nil {
		line, _, _ := bytes.Cut(after, []byte("\n"))
		return string(line), false
	}
	t.Fatalf("the process ended with %v:\n%s", err, out)
	return "", false
}

// checkJournal opens a journal, holds its runs against the rules, and returns what files it has of a run.
func checkJournal(t *testing.T, file string, runs ...string) map[string]map[string]string {
	t.Helper()
	j, err := boltdb.Open(t.Context(), file, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	e, err := runtime.New(runtime.Config{Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]map[string]string{}
	for fault := range journal.Verify(t.Context(), j) {
		t.Errorf("the journal: %+v", fault)
	}
	for _, run := range runs {
		dir := filepath.Join(t.TempDir(), run)
		if _, err := e.WriteFiles(t.Context(), run, dir); err != nil {
			t.Errorf("the files of run %s: %v", run, err)
			continue
		}
		trees[run] = treeOf(t, dir)
	}
	return trees
}

// A process is killed, for real, at every moment that it has with the journal, between the artifact, the temporary file, the
// file's name and the result, and another one goes on, in the same directory or in an empty one.
func TestFilesOfAProcessThatIsKilled(t *testing.T) {
	driver := steps("draft", "tidy")
	if os.Getenv(envFilesJournal) != "" {
		filesChild(t, driver, filesTools())
		return
	}
	every := 7 // moments; the next time others
	if os.Getenv("WRUN_EVERY_MOMENT") != "" {
		every = 1
	}
	var all sync.WaitGroup
	var last atomic.Int64
	for worker := range 2 {
		all.Go(func() {
			for n := 1 + rand.IntN(every) + worker*every; ; n += 2 * every {
				if !killAt(t, n) {
					last.Store(int64(n))
					return
				}
			}
		})
	}
	all.Wait()
	t.Logf("the process has fewer than %d moments", last.Load())
	if last.Load() < 40 {
		t.Errorf("the process has only %d moments", last.Load())
	}
}

// killAt kills a process at its n-th moment, and says whether it has so many.
func killAt(t *testing.T, n int) bool {
	base := t.TempDir()
	file, dir := filepath.Join(base, "journal.db"), filepath.Join(base, "files")
	_, killed := driveKilled(t, file, dir, "r", n)
	for path, body := range treeOf(t, dir) {
		if !strings.HasPrefix(filepath.Base(path), ".wrun-") && !slices.Contains([]string{"first", "second", "third", "old"}, body) {
			t.Errorf("killed at %d, %s holds %q", n, path, body)
		}
	}
	elsewhere := killed && n%2 == 0
	if elsewhere {
		dir = filepath.Join(base, "elsewhere")
	}
	if n%3 == 0 { // and once more, on its way back
		driveKilled(t, file, dir, "r", n/3)
	}
	output, again := driveKilled(t, file, dir, "r", 0)
	output, had := strings.CutSuffix(output, replayed)
	if again || output != filesOutput {
		t.Errorf("killed at %d, it goes on to %s", n, output)
	}
	if got := checkJournal(t, file, "r")["r"]; fmt.Sprint(got) != fmt.Sprint(filesTree) {
		t.Errorf("killed at %d, the log has the files %q", n, got)
	}
	if got := treeOf(t, dir); fmt.Sprint(got) != fmt.Sprint(filesTree) && !(elsewhere && had) {
		t.Errorf("killed at %d, it leaves %q", n, got)
	}
	return killed
}

// Eight processes share a journal and a directory, and are killed again and again.
func TestFilesOfEightProcessesThatAreKilled(t *testing.T) {
	tools := map[string]tool{"work": func(g *guest, input string) string {
		own := "own/" + g.inv.Tool + strings.Trim(input, `"`)
		for i := range 3 {
			g.write(own, strings.Repeat(fmt.Sprint(i), 50), "")
			g.write("shared", strings.Repeat(fmt.Sprint(i), 50), "")
			g.write(own+".old", fmt.Sprint(i), "")
			g.remove(own + ".old")
		}
		return fmt.Sprintf("%q", g.read(own)+g.read(own+".old"))
	}}
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "s", "m.work", fmt.Appendf(nil, "%q", r.ID()))
	}
	if os.Getenv(envFilesJournal) != "" {
		filesChild(t, driver, tools)
		return
	}
	base := t.TempDir()
	file, dir := filepath.Join(base, "journal.db"), filepath.Join(base, "files")
	var all sync.WaitGroup
	var kills atomic.Int64
	var runs []string
	for i := range 8 {
		run := fmt.Sprint("r", i)
		runs = append(runs, run)
		all.Go(func() {
			for _, kill := range []int{20 + rand.IntN(30), 10 + rand.IntN(30), 10 + rand.IntN(20), 0} {
				output, killed := driveKilled(t, file, dir, run, kill)
				if killed {
					kills.Add(1)
				} else if want := `"` + strings.Repeat("2", 50) + `not_found"`; strings.TrimSuffix(output, replayed) != want {
					t.Errorf("run %s goes on to %s, want %s", run, output, want)
				}
			}
		})
	}
	all.Wait()
	if kills.Load() < 8 {
		t.Errorf("only %d processes were killed", kills.Load())
	}
	two := strings.Repeat("2", 50)
	want := map[string]string{"shared": two}
	for run, got := range checkJournal(t, file, runs...) {
		if mine := map[string]string{"own/work" + run: two, "shared": two}; fmt.Sprint(got) != fmt.Sprint(mine) {
			t.Errorf("the log has the files %q of run %s", got, run)
		}
		want["own/work"+run] = two
	}
	got := treeOf(t, dir)
	if s := got["shared"]; len(s) != 50 || s != strings.Repeat(s[:1], 50) {
		t.Errorf("the shared file holds %q", s)
	}
	got["shared"] = two // or what another run had last
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the directory holds %q", got)
	}
}
