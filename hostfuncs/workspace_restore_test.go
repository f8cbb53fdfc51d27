package hostfuncs_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// wrote are the versions of files that a run wrote, in order; a body of "-" removes the file.
func (f *files) wrote(pairs ...string) (versions []hostfuncs.Version) {
	f.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		v := hostfuncs.Version{Path: pairs[i], Removed: pairs[i+1] == "-"}
		if !v.Removed {
			var err error
			if v.Artifact, _, err = f.kept.Put(f.t.Context(), strings.NewReader(pairs[i+1])); err != nil {
				f.t.Fatal(err)
			}
		}
		versions = append(versions, v)
	}
	return versions
}

func (f *files) restore(versions []hostfuncs.Version) ([]string, error) {
	return hostfuncs.RestoreWorkspace(f.t.Context(), f.call.Grants.Workspace, "r", versions, f.kept)
}

// lay makes files as somebody else would have.
func (f *files) lay(is map[string]string) {
	f.t.Helper()
	for path, body := range is {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.at(path)), 0o700), os.WriteFile(f.at(path), []byte(body), 0o640)); err != nil {
			f.t.Fatal(err)
		}
	}
}

func TestRestoringBringsFilesToWhatTheLogSays(t *testing.T) {
	for _, c := range []struct {
		name string
		log  []string
		is   map[string]string
		want map[string]string
		left []string
	}{
		{"nothing was written", nil, map[string]string{"mine": "x"}, map[string]string{"mine": "x"}, nil},
		{"an empty directory", []string{"a", "1", "d/b", "2", "a", "3"}, nil, map[string]string{"a": "3", "d": "dir", "d/b": "2"}, nil},
		{"all is there", []string{"a", "1"}, map[string]string{"a": "1"}, map[string]string{"a": "1"}, nil},
		{"an older version", []string{"a", "1", "a", "2", "a", "3"}, map[string]string{"a": "1"}, map[string]string{"a": "3"}, nil},
		{"somebody changed it", []string{"a", "1", "b", "2"}, map[string]string{"a": "theirs"}, map[string]string{"a": "theirs", "b": "2"}, []string{"a"}},
		{"what another file was", []string{"a", "1", "b", "2"}, map[string]string{"a": "2"}, map[string]string{"a": "2", "b": "2"}, []string{"a"}},
		{"removed, and still there", []string{"a", "1", "a", "2", "a", "-"}, map[string]string{"a": "1"}, map[string]string{}, nil},
		{"removed, and gone", []string{"d/a", "1", "d/a", "-"}, nil, map[string]string{}, nil},
		{"removed, and somebody made it", []string{"a", "1", "a", "-"}, map[string]string{"a": "theirs"}, map[string]string{"a": "theirs"}, []string{"a"}},
		{"removed, and written again", []string{"a", "1", "a", "-", "a", "1"}, nil, map[string]string{"a": "1"}, nil},
		{"removed what the run never wrote", []string{"a", "-"}, map[string]string{"a": "theirs"}, map[string]string{"a": "theirs"}, []string{"a"}},
		{"a file is a directory now", []string{"a", "1", "a", "-", "a/b", "2"}, map[string]string{"a": "1"}, map[string]string{"a": "dir", "a/b": "2"}, nil},
		{"a directory in its place", []string{"a", "1"}, map[string]string{"a/b": "theirs"}, map[string]string{"a": "dir", "a/b": "theirs"}, []string{"a"}},
		{"a file in place of its directory", []string{"a/b", "1"}, map[string]string{"a": "theirs"}, map[string]string{"a": "theirs"}, []string{"a/b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFiles(t)
			f.lay(c.is)
			versions := f.wrote(c.log...)
			for range 2 { // what was restored is as it should be
				left, err := f.restore(versions)
				if err != nil || !slices.Equal(left, c.left) {
					t.Errorf("left %q, %v, want %q", left, err, c.left)
				}
				wantTree(t, f.dir, c.want)
			}
			if info, err := os.Stat(f.at("a")); err == nil && c.is["a"] != "" && info.Mode().IsRegular() && info.Mode() != 0o640 {
				t.Errorf("it has the permissions %v", info.Mode())
			}
		})
	}
}

func TestRestoringLeavesLinksAsTheyAre(t *testing.T) {
	f := newFiles(t)
	out := filepath.Join(filepath.Dir(f.dir), "outside")
	f.lay(map[string]string{"x": "1", "../outside/a": "1"})
	if err := errors.Join(os.Symlink(out, f.at("d")), os.Symlink("x", f.at("l")), os.Symlink("../outside/a", f.at("o"))); err != nil {
		t.Skip(err)
	}
	left, err := f.restore(f.wrote("d/a", "1", "d/a", "2", "d/b", "2", "l", "1", "l", "2", "o", "1", "o", "-"))
	if err != nil || !slices.Equal(left, []string{"o", "d/a", "d/b", "l"}) {
		t.Errorf("left %q, %v", left, err)
	}
	wantTree(t, out, map[string]string{"a": "1"})
	if b, err := os.ReadFile(f.at("x")); string(b) != "1" {
		t.Errorf("the link's target holds %q, %v", b, err)
	}
}

func TestRestoringChangesNothingWhereNothingMayBeChanged(t *testing.T) {
	f := newFiles(t)
	f.lay(map[string]string{"a": "1", "gone": "1", "same": "1"})
	f.call.Grants.Workspace.Write = false
	left, err := f.restore(f.wrote("a", "1", "a", "2", "b", "1", "gone", "1", "gone", "-", "same", "1"))
	if err != nil || !slices.Equal(left, []string{"gone", "a", "b"}) {
		t.Errorf("left %q, %v", left, err)
	}
	wantTree(t, f.dir, map[string]string{"a": "1", "gone": "1", "same": "1"})
}

func TestAVersionThatCannotBeReadIsLost(t *testing.T) {
	damaged := errors.New("the artifact is damaged")
	f := newFiles(t)
	f.lay(map[string]string{"a": "1"})
	versions := f.wrote("a", "1", "a", "22")
	for name, from := range map[string]hostfuncs.Artifacts{
		"missing": new(kept),
		"damaged": opened{f.kept, io.MultiReader(strings.NewReader("2"), errorReader{damaged}), 2},
	} {
		_, err := hostfuncs.RestoreWorkspace(t.Context(), f.call.Grants.Workspace, "r", versions, from)
		var lost *hostfuncs.LostVersionError
		if !errors.As(err, &lost) || lost.Path != "a" || lost.Artifact != toolabi.DigestOf([]byte("22")) {
			t.Errorf("%s: it ends with %v", name, err)
		}
		wantTree(t, f.dir, map[string]string{"a": "1"})
	}
}

// A process that dies while it restores leaves at most what the next one cleans up.
func TestRestoringThatWasCutOffIsDoneAgain(t *testing.T) {
	f := newFiles(t)
	versions := f.wrote("a", "1234", "d/b", "5678", "d/b", "9012")
	for cut := range 5 {
		cutting := &cutter{Artifacts: f.kept, after: cut}
		func() {
			defer func() { _ = recover() }()
			_, _ = hostfuncs.RestoreWorkspace(t.Context(), f.call.Grants.Workspace, "r", versions, cutting)
		}()
		if got := tree(t, f.dir); cut == 1 && len(got) != 1 || cut == 3 && len(got) != 3 {
			t.Errorf("cut off after %d reads, it leaves %q", cut, got)
		}
		if left, err := f.restore(versions); err != nil || left != nil {
			t.Errorf("restored with %q, %v", left, err)
		}
		wantTree(t, f.dir, map[string]string{"a": "1234", "d": "dir", "d/b": "9012"})
		if err := os.RemoveAll(f.dir); err != nil {
			t.Fatal(err)
		}
	}
}

// cutter ends the process, as far as a test can, in the middle of an artifact: nothing is cleaned up.
type cutter struct {
	hostfuncs.Artifacts
	after int // so many reads are made
}

func (c *cutter) Open(ctx context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	r, size, err := c.Artifacts.Open(ctx, d)
	return cutReader{r, c}, size, err
}

type cutReader struct {
	io.ReadCloser
	c *cutter
}

func (r cutReader) Read(p []byte) (int, error) {
	if r.c.after--; r.c.after < 0 {
		panic("cut off")
	}
	return r.ReadCloser.Read(p[:2])
}

func TestAPathThatIsNoneInTheLogIsRefused(t *testing.T) {
	f := newFiles(t)
	_, err := f.restore(f.wrote("../a", "1"))
	var unusable *hostfuncs.WorkspaceError
	if !errors.As(err, &unusable) {
		t.Errorf("it ends with %v", err)
	}
	wantTree(t, filepath.Dir(f.dir), map[string]string{"workspace": "dir"})
}
