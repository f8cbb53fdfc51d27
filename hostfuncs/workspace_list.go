package hostfuncs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// workspaceListFunc makes workspace_list.
func workspaceListFunc() Func {
	f := Handle(toolabi.FuncWorkspaceList, toolabi.Read,
		func(ctx context.Context, c Call, req toolabi.WorkspaceListRequest) (reply toolabi.WorkspaceListReply, err error) {
			if err := checkList(c, req); err != nil {
				return reply, err
			}
			w, err := openWorkspace(c, toolabi.FuncWorkspaceList)
			if err != nil {
				return reply, err
			}
			defer w.close()
			reply, err = w.list(ctx, req)
			return reply, w.failed(req.Dir, err)
		})
	f.Check = judged(toolabi.FuncWorkspaceList, checkList)
	f.Describe = describedFile(func(req toolabi.WorkspaceListRequest) string { return req.Dir })
	return f
}

func checkList(c Call, req toolabi.WorkspaceListRequest) error {
	if err := mayUseFiles(c, toolabi.FuncWorkspaceList, cmp.Or(req.Dir, "workspace"), false); err != nil {
		return err
	}
	if req.Limit > toolabi.MaxWorkspaceList {
		return invalidf("%s: a limit of %d, at most %d are listed at a time", toolabi.FuncWorkspaceList, req.Limit, toolabi.MaxWorkspaceList)
	}
	return nil
}

// listing is a list while it is made.
type listing struct {
	*workspace
	ctx       context.Context
	after     string
	recursive bool
	limit     int
	files     []toolabi.WorkspaceFile
	more      bool // there is one behind the last
}

func (w *workspace) list(ctx context.Context, req toolabi.WorkspaceListRequest) (toolabi.WorkspaceListReply, error) {
	dir := cmp.Or(req.Dir, ".")
	info, err := w.root.Stat(dir)
	switch {
	case isAbsent(err):
		return toolabi.WorkspaceListReply{}, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("%s: %s is not there", w.function, shownPath(dir)))
	case err != nil:
		return toolabi.WorkspaceListReply{}, err
	case !info.IsDir():
		return toolabi.WorkspaceListReply{}, w.denied(dir, "is no directory")
	}
	l := &listing{
		workspace: w, ctx: ctx, after: req.After, recursive: req.Recursive,
		limit: int(cmp.Or(req.Limit, toolabi.DefaultWorkspaceList)),
	}
	prefix := ""
	if req.Dir != "" {
		prefix = req.Dir + "/"
	}
	err = l.dir(prefix)
	return toolabi.WorkspaceListReply{Files: l.files, More: l.more}, err
}

// item is a thing to do for a list: to name what is in a directory or, when its path ends in a slash, to list what is below it.
// In the order of their paths, that is the order of all paths: "a", "a-b", and then what is below "a".
type item struct {
	path string
	mode fs.FileMode
}

// dir lists a directory, whose paths begin with prefix.
func (l *listing) dir(prefix string) error {
	items, err := l.items(prefix)
	if err != nil {
		return err
	}
	for _, it := range items {
		switch {
		case l.more:
			return nil
		case strings.HasSuffix(it.path, "/"):
			if err := l.dir(it.path); err != nil && !isAbsent(err) { // else it was removed since it was named
				return l.failed(it.path, err)
			}
		case len(l.files) == l.limit:
			l.more = true
		default:
			l.files = append(l.files, l.file(it))
		}
	}
	return nil
}

// file is the line of a list. What was removed since its directory was read was there when it was.
func (l *listing) file(it item) toolabi.WorkspaceFile {
	f := toolabi.WorkspaceFile{Path: it.path, Kind: kindOf(it.mode)}
	if it.mode.IsRegular() {
		if info, err := l.root.Lstat(it.path); err == nil && info.Mode().IsRegular() {
			f.Size = uint64(info.Size())
		}
	}
	return f
}

// readAtOnce is how many names of a directory are read at a time.
const readAtOnce = 1024

// items are what is to be done for a directory, in order: no more of it than the list still needs, however much there is in the
// directory. Of what is to be done, at least every second thing names something, but for the directory that the list begins in.
func (l *listing) items(prefix string) ([]item, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	root, err := l.root.OpenRoot(prefix + ".") // with the dot only a directory is opened, and nothing that could wait
	if err != nil {
		return nil, err
	}
	defer root.Close()
	d, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	need := 2*(l.limit-len(l.files)+1) + 2
	var items []item
	for {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := d.ReadDir(readAtOnce)
		for _, e := range entries {
			items = l.add(items, prefix, e)
		}
		if len(items) > need+2*readAtOnce || err != nil {
			slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.path, b.path) })
			items = items[:min(len(items), need)]
		}
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// add adds what is to be done for one entry of a directory, if it is behind what was listed before.
func (l *listing) add(items []item, prefix string, e fs.DirEntry) []item {
	path := prefix + e.Name()
	if !toolabi.IsWorkspaceName(e.Name()) || len(path) > toolabi.MaxWorkspacePath {
		return items
	}
	if path > l.after {
		items = append(items, item{path: path, mode: e.Type()})
	}
	if below := path + "/"; l.recursive && e.IsDir() && (below > l.after || strings.HasPrefix(l.after, below)) {
		items = append(items, item{path: below})
	}
	return items
}
