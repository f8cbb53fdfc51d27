package trials_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

var programs struct {
	dir   string
	mu    sync.Mutex
	built map[string]string // by build tags
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "wrun-trials-")
	if err != nil {
		panic(err)
	}
	programs.dir, programs.built = dir, map[string]string{}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// wrun builds the program once, and reads its sources, so that go test notices when they change.
func wrun(t *testing.T, tags string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED, nothing was tested: windows has no kill -9")
	}
	programs.mu.Lock()
	defer programs.mu.Unlock()
	if path, ok := programs.built[tags]; ok {
		return path
	}
	path := filepath.Join(programs.dir, "wrun-"+tags)
	const pkg = "github.com/wrun-dev/wrun/cmd/wrun"
	goCommand(t, "build", "-tags", tags, "-o", path, pkg)
	for dir := range strings.Lines(goCommand(t, "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", pkg)) {
		if dir = strings.TrimSpace(dir); dir != "" {
			readSources(t, dir)
		}
	}
	programs.built[tags] = path
	return path
}

func readSources(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".go" {
			continue
		}
		if _, err := os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// place is a directory with a module and a journal.
type place struct {
	trials.Program
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{
		Program: trials.Program{Wrun: wrun(t, ""), Journal: filepath.Join(dir, "journal.db"), Cache: wasmtest.CodeCache(t)},
		t:       t, dir: dir,
	}
	p.write("payments.wasm", wasmtest.Tool(t, "tools/payments"))
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

func (p *place) write(name string, content []byte) {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), content, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// start starts wrun; a process that is still there when the test ends is killed.
func (p *place) start(args ...string) *trials.Process {
	p.t.Helper()
	proc, err := p.Start(args...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(proc.Kill)
	return proc
}

// patience is for what takes seconds on a machine that is busy.
const patience = 2 * time.Minute

// end waits until a process has ended.
func (p *place) end(proc *trials.Process) trials.Exit {
	p.t.Helper()
	return p.endWithin(proc, patience)
}

func (p *place) endWithin(proc *trials.Process, d time.Duration) trials.Exit {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), d)
	defer cancel()
	exit, err := proc.Wait(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return exit
}

// must runs wrun to its end and wants an exit code.
func (p *place) must(code int, args ...string) trials.Exit {
	p.t.Helper()
	exit := p.end(p.start(args...))
	if exit.Code != code {
		p.t.Fatalf("wrun %s: exit code %d, want %d\n%s", strings.Join(args, " "), exit.Code, code, exit.Stderr)
	}
	return exit
}
