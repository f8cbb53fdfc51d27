package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// judgedFiles returns the files in a cache of what is known beside code.
func judgedFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "judged-1", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// unreadable is a module whose code is refused when it is read.
func unreadable(t testing.TB) []byte {
	return changed(t, func(g *guest) { g.FuncRaw(nil, nil, []byte{0, 0xff, 0x0b}) })
}

// TestWhatIsKnownIsNotReadAgain tells a lie, since that is what shows whether something was read.
func TestWhatIsKnownIsNotReadAgain(t *testing.T) {
	bad := unreadable(t)
	dir := cacheFor(t)
	refused := func(what, cache string) {
		t.Helper()
		if _, err := sandbox.InspectCached(bad, cache); err == nil {
			t.Errorf("%s: it was not read", what)
		} else {
			wantLoad(t, err, sandbox.Malformed, "instruction 0xff")
		}
	}
	refused("nothing is known", dir)
	sandbox.Judge(t, dir, toolabi.DigestOf(bad), toolabi.Digest{}, wasm.Facts{}, wasm.Caps{Functions: 10})
	refused("it is known by other rules", dir)
	sandbox.Judge(t, dir, toolabi.DigestOf(echo(t)), toolabi.Digest{}, wasm.Facts{}, wasm.Caps{})
	refused("another is known", dir)
	sandbox.Judge(t, dir, toolabi.DigestOf(bad), toolabi.Digest{}, wasm.Facts{}, wasm.Caps{})
	if _, err := sandbox.InspectCached(bad, dir); err != nil {
		t.Errorf("it is known: %v", err)
	}
	refused("no cache", "")
	refused("another cache", cacheFor(t))
	refused("a cache that is not there", filepath.Join(dir, "absent"))

	// Without compiled code that goes with it, what is known is of no use.
	for way, cfg := range waysToCompile(t, dir) {
		box, s := open(t, cfg)
		if err := box.Prepare(t.Context(), s.add(bad)); err == nil {
			t.Errorf("%s: it can be run", way)
		} else {
			wantLoad(t, err, sandbox.Malformed, "instruction 0xff")
		}
	}
}

// TestEverythingButCodeIsJudgedEachTime knows all of its code beforehand of a module that is refused for something else.
func TestEverythingButCodeIsJudgedEachTime(t *testing.T) {
	dir := cacheFor(t)
	for name, tc := range map[string]struct {
		wasm []byte
		kind sandbox.LoadKind
	}{
		"import":     {changed(t, func(g *guest) { g.Import("env", "puts", i32, i32) }), sandbox.Import},
		"capability": {changedManifest(t, func(m *toolabi.Manifest) { m.Capabilities = nil }), sandbox.Capability},
		"manifest":   {changedManifest(t, func(m *toolabi.Manifest) { m.Tools[0].Idempotency = "Idempotent" }), sandbox.BadManifest},
		"table":      {changed(t, func(g *guest) { g.Table(0, 134_000_000) }), sandbox.TooBig},
		"marker":     {without(t, toolabi.ExportMarker, nil), sandbox.ABI},
		"section":    {append(echo(t), 13, 0), sandbox.Malformed},
	} {
		sandbox.Judge(t, dir, toolabi.DigestOf(tc.wasm), toolabi.Digest{}, wasm.Facts{}, wasm.Caps{})
		_, err := sandbox.InspectCached(tc.wasm, dir)
		t.Log(name)
		wantLoad(t, err, tc.kind, "")
	}
}

// TestWhatIsKnownAndWasAlteredIsNotBelieved has two modules in a cache that differ in their code only: with what is known of the
// other, each would run the other's code.
func TestWhatIsKnownAndWasAlteredIsNotBelieved(t *testing.T) {
	write := func(path string, b []byte) error { return os.WriteFile(path, b, 0o600) }
	for name, damage := range map[string]func(path, other string, content, others []byte) error{
		"one bit": func(path, _ string, b, _ []byte) error { b[len(b)/2] ^= 1; return write(path, b) },
		"cut":     func(path, _ string, b, _ []byte) error { return write(path, b[:len(b)-1]) },
		"empty":   func(path, _ string, _, _ []byte) error { return write(path, nil) },
		"longer":  func(path, _ string, b, _ []byte) error { return write(path, append(b, ' ')) },
		"huge":    func(path, _ string, _, _ []byte) error { return os.Truncate(path, 1<<40) },
		"gone":    func(path, _ string, _, _ []byte) error { return os.Remove(path) },
		"another's": func(path, _ string, _, others []byte) error {
			return write(path, others)
		},
		"another's under its name": func(path, other string, _, others []byte) error {
			return errors.Join(os.Remove(path), write(filepath.Join(filepath.Dir(path), filepath.Base(other)), others))
		},
		"the other's place": func(path, other string, _, _ []byte) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.Rename(filepath.Dir(other), filepath.Dir(path)))
		},
		"of other rules": func(path, _ string, b, _ []byte) error {
			_, sum, _ := strings.Cut(filepath.Base(path), "-")
			return os.Rename(path, filepath.Join(filepath.Dir(path), strings.Repeat("0", 64)+"-"+sum))
		},
		"without a sum": func(path, _ string, _, _ []byte) error {
			rules, _, _ := strings.Cut(filepath.Base(path), "-")
			return os.Rename(path, filepath.Join(filepath.Dir(path), rules))
		},
		"a directory": func(path, _ string, _, _ []byte) error {
			return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700))
		},
		"a link": func(path, _ string, _, _ []byte) error {
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cacheFor(t)
			compiled(t, sandbox.Config{CacheDir: dir}, answering(t, 2))
			other := judgedFiles(t, dir)[0]
			compiled(t, sandbox.Config{CacheDir: dir}, answering(t, 1))
			path := judgedFiles(t, dir)[0]
			if path == other {
				path = judgedFiles(t, dir)[1]
			}
			before, others := readFile(t, path), readFile(t, other)
			must(t, damage(path, other, bytes.Clone(before), others))
			for range 2 {
				if answer, fresh := compiled(t, sandbox.Config{CacheDir: dir}, answering(t, 1)); answer != "1" || fresh {
					t.Errorf("it says %s, compiled again: %v", answer, fresh)
				}
			}
			if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || !bytes.Equal(readFile(t, path), before) {
				t.Errorf("it is not known again: %v", err)
			}
			if answer, fresh := compiled(t, sandbox.Config{CacheDir: dir}, answering(t, 2)); answer != "2" || fresh {
				t.Errorf("the other says %s, compiled again: %v", answer, fresh)
			}
		})
	}
}

// TestWhatIsRefusedIsNotKnown has modules that we refuse, that the compiler refuses, and that are over the budget.
func TestWhatIsRefusedIsNotKnown(t *testing.T) {
	dir := cacheFor(t)
	for _, cfg := range waysToCompile(t, dir) {
		box, s := open(t, cfg)
		for _, wasm := range [][]byte{
			unreadable(t), changed(t, func(g *guest) { g.FuncRaw(nil, nil, []byte{0, 0x6a, 0x0b}) }), changed(t, func(g *guest) { g.Start(0) }),
		} {
			var l *sandbox.LoadError
			if err := box.Prepare(t.Context(), s.add(wasm)); !errors.As(err, &l) {
				t.Errorf("%v, want a LoadError", err)
			}
		}
	}
	if files := judgedFiles(t, dir); len(files) > 0 {
		t.Errorf("%q are known", files)
	}
}

// FuzzJudgement puts anything in the place of what is known of a module, under a name that says that it was written so: the module
// says what it says.
func FuzzJudgement(f *testing.F) {
	dir := cacheFor(f)
	module := answering(f, 1)
	compiled(f, sandbox.Config{CacheDir: dir}, module)
	file := judgedFiles(f, dir)[0]
	for _, s := range []string{
		string(readFile(f, file)), "", "{}", "null", `{"code":"00","facts":{}}`, `{"code":"` + strings.Repeat("0", 64) + `","facts":{"Types":[{}],"Functions":[7],"References":[4294967295]}}`,
		strings.Replace(string(readFile(f, file)), `"References":null`, `"References":[0,99]`, 1), strings.Replace(string(readFile(f, file)), `"Functions":null`, `"Functions":[0]`, 1),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		must(t, os.RemoveAll(filepath.Dir(file)))
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(sandbox.JudgementFile(dir, toolabi.DigestOf(module), said), said, 0o600))
		if _, err := sandbox.InspectCached(module, dir); err != nil {
			t.Error(err)
		}
		if answer, fresh := compiled(t, sandbox.Config{CacheDir: dir}, module); answer != "1" || fresh {
			t.Errorf("it says %s, compiled again: %v", answer, fresh)
		}
		if files := judgedFiles(t, dir); len(files) != 1 {
			t.Errorf("it is known from %q, want one file", files)
		}
	})
}

// TestAnAddedModuleIsNotAskedFor counts what the source is asked.
func TestAnAddedModuleIsNotAskedFor(t *testing.T) {
	module := echo(t)
	asked := 0
	cfg := sandbox.Config{Source: func(context.Context, toolabi.Digest) ([]byte, error) { asked++; return module, nil }}
	taken, err := sandbox.Inspect(module)
	must(t, err)
	if !bytes.Equal(taken.Bytes(), module) {
		t.Error("its bytes are others")
	}
	box, _ := open(t, cfg)
	box.Add(taken)
	works(t, box, taken.Digest)
	box.Add(taken) // it is in use
	works(t, box, taken.Digest)
	if asked != 0 {
		t.Errorf("it was asked for %d times", asked)
	}
	cfg.Caps = wasm.Caps{Functions: 1}
	strict, _ := open(t, cfg)
	strict.Add(taken)
	if err := strict.Prepare(t.Context(), taken.Digest); asked != 1 {
		t.Errorf("it was asked for %d times", asked)
	} else {
		wantLoad(t, err, sandbox.TooBig, "at most 1 are allowed")
	}
	refused, err := sandbox.Inspect(changed(t, func(g *guest) { g.Start(0) }))
	if err == nil || refused == nil || refused.Bytes() != nil {
		t.Fatalf("%+v, %v", refused, err)
	}
	box.Add(refused)
	if err := box.Prepare(t.Context(), refused.Digest); asked != 2 {
		t.Errorf("it was asked for %d times", asked)
	} else {
		wantLoad(t, err, sandbox.WrongDigest, "")
	}
}
