package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func asks[Req, Reply any](g *guest, name string, req Req) (reply Reply, failed *toolabi.Error) {
	raw, err := toolabi.Encode(req)
	if err != nil {
		panic(err)
	}
	answer, failed := g.ask(name, string(raw))
	if failed == nil {
		if err := toolabi.Decode([]byte(answer), &reply); err != nil {
			panic(err)
		}
	}
	return reply, failed
}

// write writes a file, and fails the tool when that fails.
func (g *guest) write(path, body, expect string) string {
	reply, err := asks[toolabi.WorkspaceWriteRequest, toolabi.WorkspaceWriteReply](g, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: path, Body: []byte(body), Expect: expect})
	if err != nil {
		panic(err)
	}
	return reply.Artifact
}

func (g *guest) copy(artifact, path string) {
	_, err := asks[toolabi.WorkspaceWriteRequest, toolabi.WorkspaceWriteReply](g, toolabi.FuncWorkspaceWrite, toolabi.WorkspaceWriteRequest{Path: path, Artifact: artifact})
	if err != nil {
		panic(err)
	}
}

func (g *guest) read(path string) string {
	reply, err := asks[toolabi.WorkspaceReadRequest, toolabi.WorkspaceReadReply](g, toolabi.FuncWorkspaceRead, toolabi.WorkspaceReadRequest{Path: path})
	if err != nil {
		return err.Code.String()
	}
	return string(reply.Body)
}

func (g *guest) remove(path string) {
	if _, err := asks[toolabi.WorkspaceRemoveRequest, toolabi.WorkspaceRemoveReply](g, toolabi.FuncWorkspaceRemove, toolabi.WorkspaceRemoveRequest{Path: path}); err != nil {
		panic(err)
	}
}

// filesTools are tools that write, read and remove, and say what they read.
func filesTools() map[string]tool {
	return map[string]tool{
		"draft": func(g *guest, _ string) string {
			before := g.read("notes")
			first := g.write("notes", "first", toolabi.WorkspaceAbsent)
			g.write("scratch/old", "old", "")
			g.write("notes", "second", first)
			g.copy(first, "copies/of/first")
			return fmt.Sprintf("%q", before+" "+g.read("notes"))
		},
		"tidy": func(g *guest, _ string) string {
			g.remove("scratch/old")
			g.remove("never")
			before := g.read("scratch/old")
			g.write("notes", "third", toolabi.DigestOf([]byte("second")).String())
			return fmt.Sprintf("%q", before+" "+g.read("notes")+" "+g.read("copies/of/first"))
		},
	}
}

const filesOutput = `["not_found second","not_found third first"]`

var filesTree = map[string]string{"notes": "third", "copies/of/first": "first"}

// checkVersions holds the results of a run that name artifacts against the blobs, and against each other.
func (m *machine) checkVersions(run string) {
	m.t.Helper()
	for e, err := range m.mem.Read(m.t.Context(), run, 0) {
		if errors.Is(err, journal.ErrNotFound) {
			return
		}
		if err != nil {
			m.t.Fatal(err)
		}
		if e.Kind != journal.Result || e.Name != toolabi.FuncWorkspaceWrite || e.Outcome != journal.OK {
			continue
		}
		var reply toolabi.WorkspaceWriteReply
		if err := toolabi.Decode(e.Body, &reply); err != nil {
			m.t.Fatal(err)
		}
		d, _ := toolabi.ParseDigest(reply.Artifact)
		b, err := journal.ReadBlob(m.t.Context(), m.mem, journal.Digest(d))
		if err != nil || uint64(len(b)) != reply.Size {
			m.t.Errorf("%s names version %s of %s: %d bytes, %v", e.Step, d.Short(), reply.Path, len(b), err)
		}
	}
}

// Every crash point: instead of each append, and after it was made and before anyone was told. The run goes on in the same
// directory, in an empty one elsewhere, or in one that is as it was at some moment before.
func TestNoCrashPointLosesOrTearsAFile(t *testing.T) {
	driver := steps("draft", "tidy")
	appends := 0
	synctest.Test(t, func(t *testing.T) {
		m, dir := newMachine(t, filesTools()), filepath.Join(t.TempDir(), "files")
		counter := journaltest.CrashBefore(m.mem.Handle(), 0)
		res, err := m.driveIn(m.process(counter, filing), dir, driver)
		if err != nil || string(res.Output) != filesOutput {
			t.Errorf("ended with %s, %v", res.Output, err)
		}
		wantFiles(t, dir, filesTree)
		appends = counter.Appends()
		counter.Close()
	})
	if appends < 8 {
		t.Fatalf("%d appends", appends)
	}
	for n := 1; n <= appends; n++ {
		for _, after := range []bool{false, true} {
			for _, where := range []string{"here", "elsewhere", "stale"} {
				t.Run(fmt.Sprintf("%d of %d/after %v/%s", n, appends, after, where), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { crashFilesAt(t, driver, n, after, where) })
				})
			}
		}
	}
}

func crashFilesAt(t *testing.T, driver runtime.Driver, n int, after bool, where string) {
	m, dir := newMachine(t, filesTools()), filepath.Join(t.TempDir(), "files")
	store := journaltest.CrashBefore(m.mem.Handle(), n)
	if after {
		store = journaltest.CrashAfter(m.mem.Handle(), n)
	}
	if _, err := m.driveIn(m.process(store, filing), dir, driver); !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the crash shows as %v", err)
	}
	m.checkVersions("r")
	for path, body := range treeOf(t, dir) {
		if whole := []string{"first", "second", "third", "old"}; !slices.Contains(whole, body) {
			t.Errorf("after the crash %s holds %q", path, body)
		}
	}
	before := m.results()
	want := filesTree
	switch where {
	case "elsewhere":
		dir = filepath.Join(t.TempDir(), "elsewhere")
	case "stale": // the first version of one file, a file that may be removed by now, and one of somebody else's
		if before["s1/3"] == "" {
			return // the run wrote none of them yet
		}
		dir = filepath.Join(t.TempDir(), "stale")
		for path, body := range map[string]string{"notes": "first", "scratch/old": "old", "theirs": "theirs"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700), os.WriteFile(filepath.Join(dir, path), []byte(body), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		want = map[string]string{"notes": "third", "copies/of/first": "first", "theirs": "theirs"}
	}
	res, err := m.driveIn(m.process(m.mem.Handle(), filing), dir, driver)
	if err != nil || string(res.Output) != filesOutput {
		t.Errorf("resumed with %s, %v", res.Output, err)
	}
	m.checkVersions("r")
	if where == "here" || !res.Replayed { // else the run had ended
		wantFiles(t, dir, want)
	}
}
