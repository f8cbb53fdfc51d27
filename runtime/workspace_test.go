package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// filing adds the functions of the workspace to a machine's, as every program has them.
func filing(c *runtime.Config) {
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		if strings.HasPrefix(f.Name, "workspace_") {
			c.Funcs = append(c.Funcs, f)
		}
	}
}

// treeOf is what the files in a directory hold.
func treeOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		got[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantFiles(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	if got := treeOf(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s holds %q, want %q", filepath.Base(dir), got, want)
	}
}

// driveIn starts run r, with a workspace, if it does not exist, and drives it.
func (m *machine) driveIn(p *process, dir string, driver runtime.Driver) (runtime.Result, error) {
	return m.driveRunIn(p, "r", dir, driver)
}

func (m *machine) driveRunIn(p *process, run, dir string, driver runtime.Driver) (runtime.Result, error) {
	spec, modules := m.spec(`{}`)
	grants := hostfuncs.Grants{Workspace: hostfuncs.WorkspaceGrant{Path: dir, Write: true}}
	spec.Grants = grants
	if _, err := p.Start(m.t.Context(), run, spec, modules, true); err != nil {
		return runtime.Result{}, err
	}
	return p.Drive(m.t.Context(), run, runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}, Grants: grants})
}

func TestFilesAreRestoredBeforeTheyAreFirstUsed(t *testing.T) {
	for name, c := range map[string]struct {
		is, want map[string]string
		reads    string
		said     int
	}{
		"an empty directory":  {nil, map[string]string{"a": "two", "b": "b"}, `"two b not_found"`, 0},
		"as it was left":      {map[string]string{"a": "two", "b": "b"}, map[string]string{"a": "two", "b": "b"}, `"two b not_found"`, 0},
		"as it was before":    {map[string]string{"a": "one", "gone": "gone"}, map[string]string{"a": "two", "b": "b"}, `"two b not_found"`, 0},
		"changed on purpose":  {map[string]string{"a": "mine", "b": "b", "gone": "mine"}, map[string]string{"a": "mine", "b": "b", "gone": "mine"}, `"mine b mine"`, 2},
		"one of them changed": {map[string]string{"b": "mine"}, map[string]string{"a": "two", "b": "mine"}, `"two mine not_found"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{
				"write": func(g *guest, _ string) string {
					g.write("a", "one", "")
					g.write("a", "two", "")
					g.write("b", "b", "")
					g.write("gone", "gone", "")
					g.remove("gone")
					return `1`
				},
				"read": func(g *guest, _ string) string {
					return fmt.Sprintf("%q", g.read("a")+" "+g.read("b")+" "+g.read("gone"))
				},
			})
			h := m.mem.Handle()
			_, err := m.driveIn(m.process(h, filing), filepath.Join(t.TempDir(), "first"), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
				out, err := steps("write")(ctx, r)
				if err := errors.Join(err, r.Flush()); err != nil {
					return nil, err
				}
				h.Kill()
				return out, journal.ErrUnusable
			})
			if !errors.Is(err, journal.ErrUnusable) {
				t.Fatalf("the kill shows as %v", err)
			}
			dir := filepath.Join(t.TempDir(), "second")
			for path, body := range c.is {
				if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, path), []byte(body), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			said := 0
			p := m.process(m.mem.Handle(), func(c *runtime.Config) {
				filing(c)
				c.Observe = func(ev runtime.Event) {
					mu.Lock()
					defer mu.Unlock()
					if ev.Phase == runtime.Said && ev.Level == toolabi.LevelWarn {
						said++
					}
				}
			})
			res, err := m.driveIn(p, dir, steps("write", "read"))
			if err != nil || string(res.Output) != "[1,"+c.reads+"]" || said != c.said {
				t.Errorf("resumed with %s, %v, and said %d times what is not as it was", res.Output, err, said)
			}
			wantFiles(t, dir, c.want)
		})
	}
}

// A version that the log names and that is lost is damage, and is never an answer.
func TestALostVersionStopsTheRun(t *testing.T) {
	for _, how := range []string{"gone", "changed"} {
		t.Run(how, func(t *testing.T) {
			m := newMachine(t, filesTools())
			dir := filepath.Join(t.TempDir(), "files")
			handle := m.mem.Handle()
			if _, err := m.driveIn(m.process(handle, filing), dir, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
				_, err := steps("draft")(ctx, r)
				handle.Kill()
				return nil, errors.Join(err, journal.ErrUnusable)
			}); err == nil {
				t.Fatal("it is finished")
			}
			lost := lossy{m.mem.Handle(), journal.Digest(toolabi.DigestOf([]byte("second"))), how}
			dir = filepath.Join(t.TempDir(), "elsewhere")
			_, err := m.driveIn(m.process(lost, filing), dir, steps("draft", "tidy"))
			if !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("resumed with %v", err)
			}
			if got := treeOf(t, dir); got["notes"] != "" {
				t.Errorf("the directory holds %q", got)
			}
			res, err := m.driveIn(m.process(m.mem.Handle(), filing), dir, steps("draft", "tidy"))
			if err != nil || string(res.Output) != filesOutput {
				t.Errorf("with the version back: %s, %v", res.Output, err)
			}
			wantFiles(t, dir, filesTree)
		})
	}
}

// A directory that cannot be used stops the run, which goes on once it can be.
func TestAWorkspaceThatCannotBeUsedStopsTheRun(t *testing.T) {
	m := newMachine(t, filesTools())
	dir := filepath.Join(t.TempDir(), "files")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var unusable *runtime.DirError
	if _, err := m.driveIn(m.process(m.mem.Handle(), filing), dir, steps("draft", "tidy")); !errors.As(err, &unusable) || unusable.Run != "r" {
		t.Errorf("driven to %v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	res, err := m.driveIn(m.process(m.mem.Handle(), filing), dir, steps("draft", "tidy"))
	if err != nil || string(res.Output) != filesOutput {
		t.Errorf("resumed with %s, %v", res.Output, err)
	}
}

// Branches that write the same file leave the version that the log has last, so that a resume elsewhere comes to the same.
func TestBranchesLeaveTheVersionThatTheLogHasLast(t *testing.T) {
	m := newMachine(t, map[string]tool{"write": func(g *guest, input string) string {
		for i := range 5 {
			g.write("shared", fmt.Sprint(input, " ", i), "")
			g.write("own/"+strings.Trim(input, `"`), fmt.Sprint(i), "")
		}
		return `1`
	}})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var calls []runtime.CallSpec
		for i := range 6 {
			calls = append(calls, runtime.CallSpec{Step: journal.Step(fmt.Sprintf("s%d", i)), Tool: "m.write", Input: fmt.Appendf(nil, "%q", fmt.Sprint("b", i))})
		}
		for _, c := range r.CallAll(ctx, calls) {
			if c.Err != nil {
				return nil, c.Err
			}
		}
		return []byte(`1`), nil
	}
	dir, other := filepath.Join(t.TempDir(), "files"), filepath.Join(t.TempDir(), "other")
	p := m.process(m.mem.Handle(), filing)
	if _, err := m.driveIn(p, dir, driver); err != nil {
		t.Fatal(err)
	}
	files, err := p.WriteFiles(t.Context(), "r", other)
	if err != nil || len(files) != 7 || files[0].Path != "own/b0" || files[6].Path != "shared" {
		t.Errorf("wrote %+v, %v", files, err)
	}
	wantFiles(t, other, treeOf(t, dir))
	if _, err := p.WriteFiles(t.Context(), "r", other); !errors.As(err, new(*runtime.DirError)) {
		t.Errorf("into a directory that is not empty: %v", err)
	}
	if _, err := p.WriteFiles(t.Context(), "nobody", other+"x"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("of a run that is not there: %v", err)
	}
}

// Two runs in one directory leave each other's files alone.
func TestTwoRunsInOneDirectory(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"first":  func(g *guest, _ string) string { g.write("a", "one", ""); return `1` },
		"second": func(g *guest, _ string) string { g.write("a", "two", ""); g.write("b", "two", ""); return `1` },
		"look":   func(g *guest, _ string) string { return fmt.Sprintf("%q", g.read("a")+" "+g.read("b")) },
	})
	dir := filepath.Join(t.TempDir(), "files")
	handle := m.mem.Handle()
	_, _ = m.driveRunIn(m.process(handle, filing), "r", dir, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := steps("first")(ctx, r)
		err = errors.Join(err, r.Flush())
		handle.Kill()
		return nil, errors.Join(err, journal.ErrUnusable)
	})
	if _, err := m.driveRunIn(m.process(m.mem.Handle(), filing), "other", dir, steps("second")); err != nil {
		t.Fatal(err)
	}
	res, err := m.driveRunIn(m.process(m.mem.Handle(), filing), "r", dir, steps("first", "look"))
	if err != nil || string(res.Output) != `[1,"two two"]` {
		t.Errorf("resumed with %s, %v", res.Output, err)
	}
	wantFiles(t, dir, map[string]string{"a": "two", "b": "two"})
}

// A write that takes its time between the file and the log does not let another one pass.
func TestTheLogHasVersionsInTheOrderInWhichTheFileHadThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"write": func(g *guest, input string) string { g.write("shared", input, ""); return `1` }})
		slowly := func(c *runtime.Config) {
			filing(c)
			for i, f := range c.Funcs {
				if f.Name != toolabi.FuncWorkspaceWrite {
					continue
				}
				write, pause := f.Call, 4*time.Second
				c.Funcs[i].Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
					pause -= time.Second // the later it is, the sooner it is done
					mine := pause
					reply, err := write(ctx, c, req)
					time.Sleep(mine)
					return reply, err
				}
			}
		}
		dir, other := filepath.Join(t.TempDir(), "files"), filepath.Join(t.TempDir(), "other")
		p := m.process(m.mem.Handle(), slowly)
		_, err := m.driveIn(p, dir, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			var calls []runtime.CallSpec
			for _, s := range []string{"a", "b", "c"} {
				calls = append(calls, runtime.CallSpec{Step: journal.Step(s), Tool: "m.write", Input: []byte(`"` + s + `"`)})
			}
			for _, c := range r.CallAll(ctx, calls) {
				if c.Err != nil {
					return nil, c.Err
				}
			}
			return []byte(`1`), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.WriteFiles(t.Context(), "r", other); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, other, treeOf(t, dir))
	})
}

// When only a run's end was missing, nothing is used any more, and the files are where it ends all the same.
func TestARunThatEndsElsewhereHasItsFilesThere(t *testing.T) {
	m := newMachine(t, filesTools())
	handle := m.mem.Handle()
	_, err := m.driveIn(m.process(handle, filing), filepath.Join(t.TempDir(), "files"), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := steps("draft", "tidy")(ctx, r)
		err = errors.Join(err, r.Flush())
		handle.Kill()
		return nil, errors.Join(err, journal.ErrUnusable)
	})
	if !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the kill shows as %v", err)
	}
	dir := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.driveIn(m.process(m.mem.Handle(), filing), dir, steps("draft", "tidy")); !errors.As(err, new(*runtime.DirError)) {
		t.Errorf("in place of a file it ends with %v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	p := m.process(m.mem.Handle(), filing)
	res, err := m.driveIn(p, dir, steps("draft", "tidy"))
	if err != nil || string(res.Output) != filesOutput || len(p.invoker.entered) != 0 {
		t.Errorf("resumed with %s, %v, entered %v", res.Output, err, p.invoker.entered)
	}
	wantFiles(t, dir, filesTree)
}

// The same bytes are one artifact, whichever files they are in, and as many times on the disk.
func TestFilesOfTheSameBytesKeepToTheCapTogether(t *testing.T) {
	body := []byte(strings.Repeat("x", 30))
	var said []string
	m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
		write := func(path string, req toolabi.WorkspaceWriteRequest) {
			req.Path = path
			_, err := asks[toolabi.WorkspaceWriteRequest, toolabi.WorkspaceWriteReply](g, toolabi.FuncWorkspaceWrite, req)
			switch {
			case err == nil:
				said = append(said, path)
			case err.Code == toolabi.TooLarge && err.Effect == toolabi.EffectNone:
				said = append(said, path+" is too much")
			default:
				t.Errorf("%s: %v", path, err)
			}
		}
		whole := toolabi.WorkspaceWriteRequest{Body: body}
		for _, path := range []string{"a", "b", "c/c", "d"} {
			write(path, whole)
		}
		write("e", toolabi.WorkspaceWriteRequest{Artifact: toolabi.DigestOf(body).String()})
		write("b", whole)
		if _, err := asks[toolabi.WorkspaceRemoveRequest, toolabi.WorkspaceRemoveReply](g, toolabi.FuncWorkspaceRemove, toolabi.WorkspaceRemoveRequest{Path: "a"}); err != nil {
			t.Error(err)
		}
		write("e", toolabi.WorkspaceWriteRequest{Artifact: toolabi.DigestOf(body).String()})
		write("d", whole)
		return `1`
	}})
	dir := t.TempDir()
	m.grants = hostfuncs.Grants{Artifacts: 100, Workspace: hostfuncs.WorkspaceGrant{Path: dir, Write: true}}
	want := "a, b, c/c, d is too much, e is too much, b, e, d is too much"
	for range 2 {
		said = nil
		if _, err := m.drive(m.process(m.mem.Handle(), filing), steps("it", "it")); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(said, ", "); got != "" && got != want+", a is too much, b, c/c, d is too much, e, b, e, d is too much" {
			t.Errorf("got %s", got)
		}
	}
	wantFiles(t, dir, map[string]string{"b": string(body), "c/c": string(body), "e": string(body)})
}
