package toolbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/toolbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// config is a directory of the configuration, and the box in it.
func config(t *testing.T) (string, toolbox.Box) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "config")
	return dir, toolbox.In(dir)
}

func record(name, wasm string, stores ...string) grantfile.Record {
	r := grantfile.Record{Name: name, Version: "1.0.0", Digest: toolabi.DigestOf([]byte(wasm)), File: "/" + name + ".wasm", Added: time.Unix(1e9, 0).UTC()}
	for _, s := range stores {
		r.Grants.KV = append(r.Grants.KV, hostfuncs.KVGrant{Store: s})
	}
	return r
}

func add(t *testing.T, b toolbox.Box, r grantfile.Record, wasm string, before *grantfile.Record) {
	t.Helper()
	if err := b.Add(r, []byte(wasm), before); err != nil {
		t.Fatal(err)
	}
}

// files are what is in the box, but for its lock.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "tools"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestAToolIsFoundByItsNameAndByItsBytes(t *testing.T) {
	_, b := config(t)
	if list, err := b.List(); err != nil || len(list) != 0 {
		t.Errorf("a box that is not there lists %v, %v", list, err)
	}
	one, two := record("one", "1", "s"), record("two", "2")
	add(t, b, two, "2", nil)
	add(t, b, one, "1", nil)
	list, err := b.List()
	if err != nil || len(list) != 2 || list[0].Name != "one" || list[1].Name != "two" {
		t.Errorf("listed %v, %v", list, err)
	}
	got, err := b.Find("one")
	if err != nil || !got.Grants.Equal(one.Grants) {
		t.Errorf("found %+v, %v", got, err)
	}
	if wasm, err := b.Module(got); err != nil || string(wasm) != "1" {
		t.Errorf("its bytes are %q, %v", wasm, err)
	}
	if got, ok, err := b.FindDigest(two.Digest); !ok || err != nil || got.Name != "two" {
		t.Errorf("by its bytes: %+v, %v, %v", got, ok, err)
	}
	if got, ok, err := b.FindDigest(toolabi.DigestOf([]byte("3"))); ok || err != nil {
		t.Errorf("by other bytes: %+v, %v", got, err)
	}
}

func TestAnUnknownNameIsAnsweredWithTheNearest(t *testing.T) {
	_, b := config(t)
	add(t, b, record("payments", "1"), "1", nil)
	for name, want := range map[string]string{
		"payment":       `no tool "payment" was added; did you mean "payments"?`,
		"Payments":      `no tool "Payments" was added; did you mean "payments"?`,
		"../payments":   `no tool "../payments" was added; did you mean "payments"?`,
		"p\u0430yments": `no tool "p` + "\u0430" + `yments" was added; did you mean "payments"?`,
		"x":             `no tool "x" was added`,
		"":              `no tool "" was added`,
	} {
		_, err := b.Find(name)
		var unknown *toolbox.UnknownError
		if !errors.As(err, &unknown) || err.Error() != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
	if _, err := (toolbox.Box{}).Find("a"); err == nil {
		t.Error("no box has a tool")
	}
}

func TestBytesThatChangedAreNotUsed(t *testing.T) {
	dir, b := config(t)
	r := record("one", "1")
	add(t, b, r, "1", nil)
	path := filepath.Join(dir, "tools", r.Digest.String()+".wasm")
	if err := os.WriteFile(path, []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	var changed *toolbox.ChangedError
	if _, err := b.Module(r); !errors.As(err, &changed) || changed.Is != toolabi.DigestOf([]byte("2")) || !strings.Contains(err.Error(), r.Digest.String()) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Module(r); !errors.As(err, &changed) || !strings.Contains(err.Error(), "its bytes are gone") {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Module(r); err == nil {
		t.Error("a directory is taken for a module")
	}
}

func TestAnotherVersionTakesThePlaceOfTheOneThatWasSeen(t *testing.T) {
	dir, b := config(t)
	one, two := record("a", "1"), record("a", "2")
	add(t, b, one, "1", nil)
	for what, before := range map[string]*grantfile.Record{"nothing": nil, "another one": &two} {
		if err := b.Add(two, []byte("2"), before); !errors.Is(err, toolbox.ErrMoved) {
			t.Errorf("who saw %s: got %v, want %v", what, err, toolbox.ErrMoved)
		}
	}
	more := record("a", "1", "s")
	add(t, b, more, "1", &one)
	if err := b.Add(two, []byte("2"), &one); !errors.Is(err, toolbox.ErrMoved) {
		t.Errorf("who saw other grants: got %v", err)
	}
	add(t, b, two, "2", &more)
	if got := fmt.Sprint(files(t, dir)); got != fmt.Sprintf("[a.yaml %s.wasm]", two.Digest) && got != fmt.Sprintf("[%s.wasm a.yaml]", two.Digest) {
		t.Errorf("left are %s", got)
	}
	if err := b.Remove(one); !errors.Is(err, toolbox.ErrMoved) {
		t.Errorf("who removes what was: got %v", err)
	}
	if err := b.Remove(two); err != nil {
		t.Fatal(err)
	}
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	if err := b.Remove(two); !errors.Is(err, toolbox.ErrMoved) {
		t.Errorf("removed twice: got %v", err)
	}
}

// Of those who add one name at the same moment one succeeds, and the others are told.
func TestTwoThatAddAtOnceDoNotBothSucceed(t *testing.T) {
	_, b := config(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			wasm := fmt.Sprint(i)
			errs[i] = b.Add(record("a", wasm), []byte(wasm), nil)
		})
	}
	wg.Wait()
	added := 0
	for i, err := range errs {
		switch {
		case err == nil:
			added++
		case !errors.Is(err, toolbox.ErrMoved):
			t.Errorf("%d: %v", i, err)
		}
	}
	rec, err := b.Find("a")
	if err != nil || added != 1 {
		t.Fatalf("%d were added, found %v, %v", added, rec, err)
	}
	if _, err := b.Module(rec); err != nil {
		t.Error(err)
	}
}

func TestWhatAKilledProcessLeftIsSwept(t *testing.T) {
	dir, b := config(t)
	add(t, b, record("a", "1"), "1", nil)
	half := filepath.Join(dir, "tools", ".half-1234")
	if err := os.WriteFile(half, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := b.List(); err != nil || len(list) != 1 {
		t.Errorf("listed %v, %v", list, err)
	}
	add(t, b, record("b", "2"), "2", nil)
	if _, err := os.Stat(half); err == nil {
		t.Error("it is still there")
	}
}

func TestARecordOfAnotherNameIsRefused(t *testing.T) {
	dir, b := config(t)
	add(t, b, record("a", "1"), "1", nil)
	if err := os.Rename(filepath.Join(dir, "tools", "a.yaml"), filepath.Join(dir, "tools", "b.yaml")); err != nil {
		t.Fatal(err)
	}
	var file *toolbox.FileError
	if _, err := b.Find("b"); !errors.As(err, &file) || !strings.Contains(err.Error(), "b.yaml: it is the record of a") {
		t.Errorf("got %v", err)
	}
	if err := b.Add(record("b", "2"), []byte("2"), nil); !errors.As(err, &file) {
		t.Errorf("adding over it: %v", err)
	}
}

func TestNamesThatNoFileCanHaveAreRefused(t *testing.T) {
	_, b := config(t)
	for _, name := range []string{"con", "nul", "com1", "lpt9", "A", "", "..", "a/b", "a.", strings.Repeat("a", 65)} {
		if err := b.Add(record(name, "1"), []byte("1"), nil); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if err := (toolbox.Box{}).Add(record("a", "1"), []byte("1"), nil); !errors.Is(err, toolbox.ErrNoPlace) {
		t.Errorf("without a configuration: got %v", err)
	}
	add(t, b, record("console", "1"), "1", nil)
}
