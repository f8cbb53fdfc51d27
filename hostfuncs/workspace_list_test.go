package hostfuncs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// pages lists everything with as many requests as it takes.
func (f *files) pages(req toolabi.WorkspaceListRequest) (all []toolabi.WorkspaceFile) {
	f.t.Helper()
	limit := int(req.Limit)
	if limit == 0 {
		limit = toolabi.DefaultWorkspaceList
	}
	for {
		got, err := f.list(req)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, got.Files...)
		if got.More != (len(got.Files) == limit) && got.More {
			f.t.Fatalf("a page of %d with a limit of %d says more", len(got.Files), limit)
		}
		if !got.More {
			return all
		}
		req.After = got.Files[len(got.Files)-1].Path
	}
}

// Whatever is in a directory, its list is what a model says, in whatever pages.
func TestWorkspaceListIsInOrderAndWhole(t *testing.T) {
	f := newFiles(t)
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a-b", "a.b", "a b", "ab", "b", "A", "\u00e9", "e\u0301", "-", "0", "a!", "~", "nul", ".wrun-x", "tail.", "co:lon", "bad\xff"}
	model := map[string]toolabi.WorkspaceFile{}
	var fill func(prefix string, depth int, listed bool)
	fill = func(prefix string, depth int, listed bool) {
		for _, i := range random.Perm(len(names))[:6+depth*2] {
			name := names[i]
			p, lists := prefix+name, listed && i < len(names)-5
			line := toolabi.WorkspaceFile{Path: p, Kind: "file"}
			switch dir := depth > 0 && random.IntN(2) == 0; {
			case dir:
				line.Kind = "dir"
				if err := os.Mkdir(f.at(p), 0o700); err != nil {
					t.Fatal(err)
				}
				fill(p+"/", depth-1, lists)
			case random.IntN(4) == 0:
				line.Kind = "link"
				if err := os.Symlink(".", f.at(p)); err != nil {
					t.Skip(err)
				}
			default:
				line.Size = uint64(random.IntN(9))
				if err := os.WriteFile(f.at(p), make([]byte, line.Size), 0o600); err != nil {
					t.Skip(err)
				}
			}
			if lists {
				model[p] = line
			}
		}
	}
	fill("", 3, true)
	for _, dir := range []string{"", "a"} {
		if dir != "" && model[dir].Kind != "dir" {
			continue
		}
		for _, recursive := range []bool{true, false} {
			var want []toolabi.WorkspaceFile
			for p, line := range model {
				below, ok := strings.CutPrefix(p, dir+"/")
				if dir == "" {
					below, ok = p, true
				}
				if ok && (recursive || path.Base(below) == below) {
					want = append(want, line)
				}
			}
			slices.SortFunc(want, func(a, b toolabi.WorkspaceFile) int { return strings.Compare(a.Path, b.Path) })
			limits := []uint32{1, 2, 3, 7, 0, 1000}
			if recursive {
				limits = limits[3:]
			}
			for _, limit := range limits {
				if got := f.pages(toolabi.WorkspaceListRequest{Dir: dir, Recursive: recursive, Limit: limit}); !slices.Equal(got, want) {
					t.Errorf("%q, recursive %v, %d at a time: %d lines, want %d:\n%v\n%v", dir, recursive, limit, len(got), len(want), got, want)
				}
			}
			for _, after := range []string{"a", "a/", "a/a", "a-", "a/a-b/zzz", "\xff", "nothing"} {
				got, err := f.list(toolabi.WorkspaceListRequest{Dir: dir, Recursive: recursive, Limit: 1000, After: after})
				var rest []toolabi.WorkspaceFile
				for _, line := range want {
					if line.Path > after {
						rest = append(rest, line)
					}
				}
				if after == "\xff" {
					continue // no text, so no message
				}
				if err != nil || !slices.Equal(got.Files, rest) {
					t.Errorf("%q, recursive %v, behind %q: %d lines, want %d, %v", dir, recursive, after, len(got.Files), len(rest), err)
				}
			}
		}
	}
}

// However many files there are, no more are kept in memory than a page needs.
func TestWorkspaceListOfAHugeDirectory(t *testing.T) {
	f := newFiles(t)
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const n = 3_000
	for i := range n {
		if err := os.WriteFile(f.at(fmt.Sprintf("f%05d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := f.pages(toolabi.WorkspaceListRequest{Limit: 1000})
	if len(got) != n || got[0].Path != "f00000" || got[n-1].Path != "f02999" {
		t.Errorf("listed %d", len(got))
	}
	page, err := f.list(toolabi.WorkspaceListRequest{Limit: 3, After: "f00041"})
	if err != nil || len(page.Files) != 3 || page.Files[0].Path != "f00042" || page.Files[2].Path != "f00044" || !page.More {
		t.Errorf("a page is %+v, %v", page, err)
	}
	page, err = f.list(toolabi.WorkspaceListRequest{Limit: 2, After: "f02997"})
	if err != nil || len(page.Files) != 2 || page.More {
		t.Errorf("the last page is %+v, %v", page, err)
	}
}
