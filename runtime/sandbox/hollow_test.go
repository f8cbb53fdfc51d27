package sandbox_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestModulesThatDifferInTheirCodeOnly are one hollow module but for a name in it.
func TestModulesThatDifferInTheirCodeOnly(t *testing.T) {
	for way, cfg := range waysToCompile(t, cacheFor(t)) {
		for _, when := range []string{"new", "known"} {
			box, s := open(t, cfg)
			for range 2 {
				for n := range int32(3) {
					out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(answering(t, n)), Tool: "echo"}, nil)
					if err != nil || string(out.Output) != string('0'+n) {
						t.Errorf("%s, %s: module %d says %s, %v, %v", way, when, n, out.Output, out.Err, err)
					}
				}
			}
		}
	}
}

// TestTheCompilerIsTheOneThatIsKnown fails when wazero changes. With another version everything works as it should, and slower: the
// whole module is shown. Before the constant is raised: nothing of a function may be used after wazero has found its code, which
// is to be read in its sources, from getCompiledModule on, and held by the tests of this package with the new constant.
func TestTheCompilerIsTheOneThatIsKnown(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/tetratelabs/wazero").Output()
	must(t, err)
	version := strings.TrimSpace(string(out))
	if got := sandbox.CompilerVersion(); got != version {
		t.Errorf("the compiler is taken for %s, and is %s", got, version)
	}
	if sandbox.Hollowed != version {
		t.Errorf("wazero is %s, and %s is known to take hollow modules", version, sandbox.Hollowed)
	}
}

// TestAnotherCompilerIsShownTheWholeModule uses a cache with and without hollow modules, one after the other.
func TestAnotherCompilerIsShownTheWholeModule(t *testing.T) {
	dir := cacheFor(t)
	for i, tc := range []struct{ whole, fresh bool }{{false, true}, {true, true}, {true, false}, {false, false}} {
		fresh := false
		box, s := open(t, sandbox.Config{CacheDir: dir, OnCompile: func(sandbox.CompileEvent) { fresh = true }})
		if tc.whole {
			box.ShowWhole()
		}
		works(t, box, s.add(echo(t)))
		if fresh != tc.fresh {
			t.Errorf("%d: compiled: %v, want %v", i, fresh, tc.fresh)
		}
	}
	if files := codeFiles(t, dir); len(files) != 2 {
		t.Errorf("there are %q, want one for each", files)
	}
}
