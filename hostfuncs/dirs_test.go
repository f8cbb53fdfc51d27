package hostfuncs_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestDirectoriesAreGrantedAsWritten(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	abs := func(path string) string { return filepath.Join(here, path) }
	for _, c := range []struct {
		text string
		want hostfuncs.DirGrant
		why  string
	}{
		{"out=x", hostfuncs.DirGrant{Name: "out", Path: abs("x")}, ""},
		{"out=x:ro", hostfuncs.DirGrant{Name: "out", Path: abs("x")}, ""},
		{"out=x:rw", hostfuncs.DirGrant{Name: "out", Path: abs("x"), Write: true}, ""},
		{"out=a=b/../c/:rw", hostfuncs.DirGrant{Name: "out", Path: abs("c"), Write: true}, ""},
		{"out=x:RW", hostfuncs.DirGrant{Name: "out", Path: abs("x:RW")}, ""},
		{"out=x:ro:rw", hostfuncs.DirGrant{Name: "out", Path: abs("x:ro"), Write: true}, ""},
		{"out", hostfuncs.DirGrant{}, "want NAME=PATH"},
		{"", hostfuncs.DirGrant{}, "want NAME=PATH"},
		{"=x", hostfuncs.DirGrant{}, "no name of a directory"},
		{"Out=x", hostfuncs.DirGrant{}, "no name of a directory"},
		{"../out=x", hostfuncs.DirGrant{}, "no name of a directory"},
		{"out=", hostfuncs.DirGrant{}, "which one?"},
		{"out=:rw", hostfuncs.DirGrant{}, "which one?"},
		{"out=a\x00b", hostfuncs.DirGrant{}, "without NUL"},
		{"out=\xff", hostfuncs.DirGrant{}, "UTF-8"},
		{"out=" + strings.Repeat("a", 5000), hostfuncs.DirGrant{}, "at most 4096"},
	} {
		got, err := hostfuncs.ParseDir(c.text)
		switch {
		case c.why == "" && (err != nil || got != c.want):
			t.Errorf("%.40q: got %+v, %v, want %+v", c.text, got, err, c.want)
		case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%.40q: got %+v, %v, want it refused with %q", c.text, got, err, c.why)
		case c.why == "":
			if again, err := hostfuncs.ParseDir(got.String()); err != nil || again != got {
				t.Errorf("%q is written as %q and read as %+v, %v", c.text, got, again, err)
			}
		}
	}
}

func TestGrantsOfDirectoriesAddUp(t *testing.T) {
	in := hostfuncs.DirGrant{Name: "in", Path: "/in"}
	out := hostfuncs.DirGrant{Name: "out", Path: "/out"}
	outW := hostfuncs.DirGrant{Name: "out", Path: "/out", Write: true}
	other := hostfuncs.DirGrant{Name: "out", Path: "/other", Write: true}
	dirs := func(d ...hostfuncs.DirGrant) hostfuncs.Grants { return hostfuncs.Grants{Dirs: d} }
	for _, c := range []struct {
		a, b, want hostfuncs.Grants
		conflict   bool
	}{
		{dirs(), dirs(in), dirs(in), false},
		{dirs(in), dirs(), dirs(in), false},
		{dirs(in), dirs(out), dirs(in, out), false},
		{dirs(out), dirs(outW), dirs(outW), false},
		{dirs(outW), dirs(out), dirs(outW), false},
		{dirs(out), dirs(other), dirs(out), true}, // and nobody may write to it because of the other one
	} {
		got := c.a.Union(c.b)
		if !got.Equal(c.want) {
			t.Errorf("%v and %v grant %v, want %v", c.a, c.b, got, c.want)
		}
		var conflict *hostfuncs.GrantConflictError
		if errors.As(c.a.Conflict(c.b), &conflict) != c.conflict {
			t.Errorf("%v and %v: conflict %v, want %v", c.a, c.b, conflict, c.conflict)
		}
		if conflict != nil && (conflict.Has != "/out" || conflict.Wants != "/other" || conflict.Name != "out") {
			t.Errorf("conflict %+v", conflict)
		}
	}
}

func TestAProgramGetsWhatItWantsAndIsGranted(t *testing.T) {
	c := &toolabi.Command{Dirs: []toolabi.Dir{
		{Name: "in", Path: "/in", Reason: "r"}, {Name: "out", Path: "/out", Write: true, Reason: "r"}, {Name: "tmp", Path: "/tmp", Write: true, Reason: "r"},
	}}
	g := hostfuncs.Grants{Dirs: []hostfuncs.DirGrant{
		{Name: "in", Path: "/a", Write: true}, {Name: "out", Path: "/b"}, {Name: "not-asked-for", Path: "/c", Write: true},
	}}
	mounts, missing := g.Mounts(c)
	want := []toolabi.Mount{{Name: "in", Path: "/a"}, {Name: "out", Path: "/b"}}
	if !slices.Equal(mounts, want) || len(missing) != 1 || missing[0].Name != "tmp" {
		t.Errorf("got %v, missing %v, want %v and tmp", mounts, missing, want)
	}
	g.Dirs[1].Write = true
	if mounts, _ := g.Mounts(c); !mounts[1].Write || mounts[0].Write {
		t.Errorf("with both sides willing: %v", mounts)
	}
	if mounts, missing := g.Mounts(nil); mounts != nil || missing != nil {
		t.Errorf("a module that is no program gets %v and misses %v", mounts, missing)
	}
}

func TestADirectoryThatCannotBeUsedIsNamed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (hostfuncs.DirGrant{Name: "out", Path: dir}).Check(); err != nil {
		t.Error(err)
	}
	for path, why := range map[string]string{
		filepath.Join(dir, "gone"): "is not there", file: "directory out", "relative": "absolute and clean", dir + "/../x": "absolute and clean",
	} {
		if err := (hostfuncs.DirGrant{Name: "out", Path: path}).Check(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: got %v, want %q", path, err, why)
		}
	}
}
