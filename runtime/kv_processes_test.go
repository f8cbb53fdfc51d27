package runtime_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// What a process that shares a store is told: the journal's file and its own name. runsEach, when it is set, says how many runs
// each process has to finish: 3 in an ordinary test, 200 takes some minutes.
const (
	envStoreFile = "WRUN_TEST_STORE_FILE"
	envStoreName = "WRUN_TEST_STORE_NAME"
	envStoreRuns = "WRUN_TEST_STORE_RUNS"
)

// failed is how a process ends that could not do what it has to; one that is killed ends otherwise.
const failed = 7

func runsEach() int {
	if n, err := strconv.Atoi(os.Getenv(envStoreRuns)); err == nil {
		return n
	}
	return 3
}

// Eight processes on one journal count in the same store and keep artifacts, and are killed at any moment while they do. In the end
// every counter is what the log says was counted, and every artifact that it names is there.
func TestKilledProcessesShareAStore(t *testing.T) {
	if file := os.Getenv(envStoreFile); file != "" {
		if err := countInRuns(t, file, os.Getenv(envStoreName)); err != nil {
			fmt.Println("FAILED", err)
			os.Exit(failed)
		}
		os.Exit(0)
	}
	const processes = 8
	file := filepath.Join(t.TempDir(), "journal.db")
	crowd := &crowd{t: t, file: file, running: map[int]*exec.Cmd{}, kills: processes * runsEach()}
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			for crowd.live(p) {
			}
		})
	}
	wg.Wait()
	if crowd.killed < processes {
		t.Errorf("only %d processes were killed", crowd.killed)
	}
	j, err := boltdb.Open(t.Context(), file, boltdb.Options{BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	journaltest.Check(t, j)
	wantCounted(t, j, processes)
}

// crowd are processes of which one that says something gets another one killed.
type crowd struct {
	t    *testing.T
	file string

	mu      sync.Mutex
	running map[int]*exec.Cmd // guarded by mu
	kills   int               // guarded by mu: how many are still to be killed
	killed  int               // guarded by mu
}

// live is one life of a process. It says whether there has to be another.
func (c *crowd) live(p int) bool {
	self, err := os.Executable()
	if err != nil {
		c.t.Error(err)
		return false
	}
	cmd := exec.Command(self, "-test.run=^TestKilledProcessesShareAStore$")
	cmd.Env = append(os.Environ(), envStoreFile+"="+c.file, envStoreName+"="+fmt.Sprint("p", p))
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Error(err)
		return false
	}
	c.mu.Lock()
	if err = cmd.Start(); err == nil {
		c.running[p] = cmd
	}
	c.mu.Unlock()
	if err != nil {
		c.t.Error(err)
		return false
	}
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = lines.Text()
		c.killOne()
	}
	c.mu.Lock()
	delete(c.running, p)
	c.mu.Unlock()
	err = cmd.Wait()
	if err != nil && cmd.ProcessState.ExitCode() == failed {
		c.t.Errorf("process %d: %s", p, said)
		return false
	}
	return err != nil
}

// killOne kills any of the processes, or none.
func (c *crowd) killOne() {
	c.mu.Lock()
	defer c.mu.Unlock()
	victim := rand.IntN(8)
	if cmd := c.running[victim]; cmd != nil && c.kills > 0 && rand.IntN(3) == 0 {
		if cmd.Process.Kill() == nil {
			c.kills, c.killed = c.kills-1, c.killed+1
		}
		delete(c.running, victim)
	}
}

// countInRuns finishes the runs of a process, and goes on with those that an earlier life left.
func countInRuns(t *testing.T, file, name string) error {
	j, err := boltdb.Create(context.Background(), file, boltdb.Options{BusyTimeout: time.Minute})
	if err != nil {
		return err
	}
	defer j.Close()
	m := &machine{t: t, world: newWorld(), grants: tallyGrants, tools: map[string]tool{"it": func(g *guest, input string) string {
		own := count(g, "own/"+input)
		shared := countShared(g, "shared")
		kept := sure[toolabi.ArtifactPutReply](g, toolabi.FuncArtifactPut, toolabi.ArtifactPutRequest{Body: report(shared)})
		sure[toolabi.KVPutReply](g, toolabi.FuncKVPut, toolabi.KVPutRequest{Key: "last", Value: []byte(kept.Artifact)})
		return fmt.Sprintf(`"%d %d"`, own, shared)
	}}}
	said := func(runtime.Event) { fmt.Println("STEP") }
	inv := &goInvoker{tools: m.tools, entered: map[string]int{}}
	e, err := runtime.New(runtime.Config{Journal: j, Invoker: inv, Funcs: m.funcs(), Observe: said})
	if err != nil {
		return err
	}
	for i := range runsEach() {
		run := fmt.Sprintf("%s-%d", name, i)
		spec, modules := m.spec(`{}`)
		if _, err := e.Start(context.Background(), run, spec, modules, true); err != nil {
			return err
		}
		driver := runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			if _, err := r.Call(ctx, "a", "m.it", fmt.Appendf(nil, "%q", name)); err != nil {
				return nil, err
			}
			return r.Call(ctx, "b", "m.it", fmt.Appendf(nil, "%q", name))
		}}
		if _, err := e.Drive(context.Background(), run, runtime.DriveOptions{Driver: &driver}); err != nil {
			return fmt.Errorf("%s: %w", run, err)
		}
	}
	return nil
}

// wantCounted holds the store against what the logs say.
func wantCounted(t *testing.T, j journaltest.Store, processes int) {
	t.Helper()
	recorded := map[string]int{}
	artifacts := map[journal.Digest]bool{}
	for s, err := range j.List(t.Context(), journal.Query{}) {
		if err != nil || !s.Finished {
			t.Fatalf("run %s is finished: %v, %v", s.Run, s.Finished, err)
		}
		for e, err := range j.Read(t.Context(), s.Run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range e.Writes {
				if w.Space == "kv:m" {
					recorded[w.Key]++
				}
			}
			if e.Name == toolabi.FuncArtifactPut && e.Kind == journal.Result {
				artifacts[e.Refs[0]] = true
			}
		}
	}
	all := 2 * processes * runsEach()
	for n := range all {
		if d := journal.DigestOf(report(n + 1)); !artifacts[d] {
			t.Errorf("nobody has report %d", n+1)
		}
	}
	keys, size := 0, 0
	for item, err := range j.Scan(t.Context(), "kv:m", "", "") {
		if err != nil {
			t.Fatal(err)
		}
		want := 2 * runsEach()
		switch item.Key {
		case "shared", "last":
			want = all
		}
		if recorded[item.Key] != want || item.Version != uint64(want) || item.Key != "last" && string(item.Value) != fmt.Sprint(want) {
			t.Errorf("%s is %s in version %d after %d recorded writes, want %d", item.Key, item.Value, item.Version, recorded[item.Key], want)
		}
		keys, size = keys+1, size+len(item.Key)+len(item.Value)
	}
	usage, _, err := j.Get(t.Context(), "kv-usage", "m")
	if should, _ := toolabi.Encode(map[int]int{1: keys, 2: size}); err != nil || !bytes.Equal(usage, should) || keys != processes+2 {
		t.Errorf("the record says %x, %v of %d keys, want %x", usage, err, keys, should)
	}
}
