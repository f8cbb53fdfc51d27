package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == compileModule { // started by a test that is not a script
		main()
	}
	testscript.Main(m, map[string]func(){"wrun": scripted})
}

// TestScripts runs the scripts of testdata, each in a directory of its own with a journal of its own, with the bundled
// tools as payments.wasm, text.wasm and mailer.wasm, a guest that waits and calls tools as flows.wasm, and two programs without a manifest:
// observer.wasm says what it sees, words.wasm counts what it reads. desk.wasm works with files, till.wasm and till2.wasm are two versions of a
// tool. liars.wasm breaks what it declares, and honest.wasm keeps it.
func TestScripts(t *testing.T) {
	payments, text, flows := wasmtest.Tool(t, "tools/payments"), wasmtest.Tool(t, "tools/text"), wasmtest.Tool(t, "internal/wasmtest/guests/flows")
	mailer := wasmtest.Tool(t, "tools/mailer")
	observer, words := wasmtest.Command(t, "internal/wasmtest/guests/observer"), wasmtest.Command(t, "internal/wasmtest/guests/words")
	desk := wasmtest.Tool(t, "internal/wasmtest/guests/desk")
	till, till2 := wasmtest.Tool(t, "internal/wasmtest/guests/till"), wasmtest.Tool(t, "internal/wasmtest/guests/till2")
	liars, honest := wasmtest.Tool(t, "internal/wasmtest/guests/liars"), wasmtest.Tool(t, "internal/wasmtest/guests/honest")
	cache, built, lines := wasmtest.CodeCache(t), goCache(t), filepath.Join(t.TempDir(), "lines")
	t.Cleanup(func() { holdLines(t, lines) }) // when all scripts have ended
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("WRUN_JOURNAL", filepath.Join(env.WorkDir, "state", "journal.db"))
			env.Setenv("WRUN_CACHE", cache)
			env.Setenv("GOCACHE", built)
			env.Setenv(envLines, lines)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Values[ledgerKey{}] = new(*ledger.Server)
			env.Values[mailKey{}] = new(*mailserver.Server)
			env.Values[modelKey{}] = new(*fakemodel.Server)
			env.Values[listenKey{}] = map[string]<-chan string{}
			env.Defer(func() { checkJournal(t, filepath.Join(env.WorkDir, "state", "journal.db")) })
			for name, wasm := range map[string][]byte{"payments.wasm": payments, "text.wasm": text, "mailer.wasm": mailer, "flows.wasm": flows, "observer.wasm": observer, "words.wasm": words, "desk.wasm": desk, "till.wasm": till, "till2.wasm": till2, "liars.wasm": liars, "honest.wasm": honest} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), wasm, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exitsWith, "ledger": ledgerCommand, "mail": mailCommand, "model": modelCommand, "json": jsonCommand, "size": sizeIs, "badmodule": badModule, "damage": damage, "oldjournal": oldJournal, "unchanged": unchanged, "hostile": hostileModule, "module": moduleCommand,
			"filesrun": filesRun, "listen": listen, "hears": hears, "ask": askServer, "types": typeShown, "runs": finishedRuns,
			"receiver": receiverCommand, "scrapes": scrapes,
		},
	})
}

// goCache is where Go keeps what it built, so that a script does not build the standard library.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// exitsWith runs a command and holds its exit code: exits CODE COMMAND [ARG ...]. What it writes is for stdout and stderr.
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	for _, bad := range []string{"goroutine ", "panic:", "fatal error:"} {
		if strings.Contains(ts.ReadFile("stderr"), bad) {
			ts.Fatalf("a Go stack on standard error")
		}
	}
}

// checkJournal holds the journal that a script leaves against every rule, unless the script has damaged it.
func checkJournal(t *testing.T, path string) {
	j, err := boltdb.Open(context.Background(), path, boltdb.Options{})
	if err != nil {
		return
	}
	defer j.Close()
	journaltest.Check(t, j)
}

type ledgerKey struct{}

// ledgerCommand controls a real ledger: ledger start (its address is in $LEDGER), ledger set JSON, ledger counts N,
// ledger waits, ledger release.
func ledgerCommand(ts *testscript.TestScript, neg bool, args []string) {
	slot := ts.Value(ledgerKey{}).(**ledger.Server)
	if args[0] == "start" {
		s, err := ledger.Start(ledger.Config{})
		ts.Check(err)
		ts.Defer(func() { s.Close() })
		ts.Setenv("LEDGER", s.URL())
		*slot = s
		return
	}
	s := *slot
	switch args[0] {
	case "set":
		b := s.Behaviour()
		ts.Check(json.Unmarshal([]byte(args[1]), &b))
		s.SetBehaviour(b)
	case "counts":
		if got := fmt.Sprint(s.Count().Charges); got != args[1] {
			ts.Fatalf("the ledger counts %s charges, want %s", got, args[1])
		}
	case "waits":
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		ts.Check(s.WaitHanging(ctx, 1))
	case "release":
		s.Release()
	default:
		ts.Fatalf("ledger: unknown word %q", args[0])
	}
}

// unchanged holds a file against a copy of it: unchanged FILE COPY.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if ts.ReadFile(args[0]) != ts.ReadFile(args[1]) {
		ts.Fatalf("%s has changed", args[0])
	}
}

// sizeIs holds how long a file is: size FILE BYTES.
func sizeIs(ts *testscript.TestScript, neg bool, args []string) {
	if got := fmt.Sprint(len(ts.ReadFile(args[0]))); got != args[1] {
		ts.Fatalf("%s has %s bytes, want %s", args[0], got, args[1])
	}
}
