package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// workspaces are the directories of a run's files while it is driven.
//
// Before a directory is first used, and before the run ends well, it is brought to what the log says of the files in it. What
// changes files is done one after the other, result included, so that the log has the versions of a file in the order in which the
// file had them.
type workspaces struct {
	changing  chan struct{}   // holds one while a step changes a file
	restoring chan struct{}   // holds one while restored is looked at
	restored  map[string]bool // guarded by restoring: the directories that are as the log says
}

func newWorkspaces() *workspaces {
	return &workspaces{changing: make(chan struct{}, 1), restoring: make(chan struct{}, 1), restored: map[string]bool{}}
}

// usesFiles says whether a host function is one of the workspace's.
func usesFiles(name string) bool {
	return changesFiles(name) || name == toolabi.FuncWorkspaceRead || name == toolabi.FuncWorkspaceList
}

func changesFiles(name string) bool {
	return name == toolabi.FuncWorkspaceWrite || name == toolabi.FuncWorkspaceRemove
}

// turn returns when a step may be taken: one that changes files, once no other does. done ends it. A context that has ended is the
// step's to deal with.
func (w *workspaces) turn(ctx context.Context, name string) (done func()) {
	if !changesFiles(name) {
		return func() {}
	}
	select {
	case w.changing <- struct{}{}:
		return func() { <-w.changing }
	case <-ctx.Done():
		return func() {}
	}
}

// restoreFor brings the directory that a function is about to use to what the log says.
func (r *Run) restoreFor(ctx context.Context, name string, c hostfuncs.Call) error {
	if !usesFiles(name) || c.Artifacts == nil {
		return nil
	}
	return r.restore(ctx, c.Grants.Workspace, c.Artifacts, c.Log)
}

// restoreAll brings to what the log says what was not used while the run was driven this time: somebody who goes on with a run
// elsewhere finds its files there when it has ended.
func (r *Run) restoreAll(ctx context.Context) error {
	said := func(level uint8, text string) {
		r.engine.observe(Event{Run: r.id, Phase: Said, Level: level, Text: text})
	}
	for _, v := range r.kept.stepped() {
		if m, ok := r.madeBy(v.step); ok {
			if err := r.restore(ctx, m.granted(r.grants).Workspace, &holding{run: r}, said); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore brings a directory to what the log says, once while the run is driven. Errors end the driving: a version that is lost is
// damage; a directory that cannot be used is a *DirError.
func (r *Run) restore(ctx context.Context, grant hostfuncs.WorkspaceGrant, from hostfuncs.Artifacts, say func(uint8, string)) error {
	if grant.Path == "" {
		return nil
	}
	w := r.workspaces
	select {
	case w.restoring <- struct{}{}:
		defer func() { <-w.restoring }()
	case <-ctx.Done():
		return r.ended(ctx)
	}
	if w.restored[grant.Path] {
		return nil
	}
	left, err := hostfuncs.RestoreWorkspace(ctx, grant, r.id, r.versionsIn(grant.Path), from)
	if err != nil {
		return r.notRestored(ctx, err)
	}
	w.restored[grant.Path] = true
	r.sayLeft(left, say)
	return nil
}

func (r *Run) notRestored(ctx context.Context, err error) error {
	var unusable *hostfuncs.WorkspaceError
	switch {
	case ctx.Err() != nil:
		return r.ended(ctx)
	case stops(err): // the journal's own
		return err
	case errors.As(err, &unusable):
		return &DirError{Run: r.id, Err: err}
	}
	return r.journalError(damaged(r.id, err))
}

// versionsIn are the versions of the files that modules wrote to this directory, or would now: a run may go on in another one.
func (r *Run) versionsIn(path string) (versions []hostfuncs.Version) {
	for _, v := range r.kept.stepped() {
		if m, ok := r.madeBy(v.step); ok && m.granted(r.grants).Workspace.Path == path {
			versions = append(versions, v.Version)
		}
	}
	return versions
}

// madeBy is the module that asked for a step.
func (r *Run) madeBy(step journal.Step) (m Module, ok bool) {
	r.log.view(func(h *journal.History, _ *journal.State) {
		if call := h.Find(step.Parent()); call != nil && call.Intent != nil {
			m, ok = r.spec.module(call.Intent.Module)
		}
	})
	return m, ok
}

// module finds a module of the run by its digest.
func (s *Spec) module(d journal.Digest) (Module, bool) {
	i := slices.IndexFunc(s.Modules, func(m Module) bool { return journal.Digest(m.Digest) == d })
	if i < 0 {
		return Module{}, false
	}
	return s.Modules[i], true
}

// stepped returns the versions of files with the steps that made them, in the order of the log.
func (k *kept) stepped() []keptVersion {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.versions)
}

// maxLeftSaid is how many files are named that were left as they are.
const maxLeftSaid = 20

// sayLeft tells people which files are not as the log says. The one that was being changed when the run was cut off is none of
// them: it is changed again.
func (r *Run) sayLeft(left []string, say func(level uint8, text string)) {
	cut := map[string]bool{}
	r.log.view(func(h *journal.History, s *journal.State) {
		for step := range s.Open {
			if p := h.Find(step); p != nil && p.Intent != nil && changesFiles(p.Intent.Name) {
				cut[p.Intent.Note] = true
			}
		}
	})
	left = slices.DeleteFunc(left, func(path string) bool { return cut[hostfuncs.DescribeFile(path)] })
	for i, path := range left {
		if i == maxLeftSaid {
			say(toolabi.LevelWarn, fmt.Sprintf("and %d other files of the workspace", len(left)-i))
			return
		}
		say(toolabi.LevelWarn, fmt.Sprintf("%s in the workspace is not what this run left there, and stays as it is", hostfuncs.DescribeFile(path)))
	}
}

// File is a file of a run, as its log has it.
type File struct {
	Path string
	// Artifact is the file's digest, under which the journal keeps its bytes.
	Artifact toolabi.Digest
}

// WriteFiles writes the files of a run into a directory, as its log has them, without driving the run: the last version of each
// that was not removed, in the order of their paths. The directory must be empty, or is made; path is absolute and clean. Where
// modules of the run have workspaces of their own, their files are put together, and the later version of a path is written.
//
// Errors: journal.ErrNotFound; journal.ErrDamaged for a version that is lost; *DirError. What was written before stays.
func (e *Engine) WriteFiles(ctx context.Context, run, path string) ([]File, error) {
	l, err := e.load(ctx, run)
	if err != nil {
		return nil, err
	}
	r := newRun(e, run, l)
	defer r.log.close()
	if err := r.kept.fault(); err != nil {
		return nil, err
	}
	if e.blobs == nil {
		return nil, errors.New("this journal keeps no artifacts")
	}
	grant := hostfuncs.WorkspaceGrant{Path: path, Write: true}
	if err := grant.CheckEmpty(); err != nil {
		return nil, &DirError{Err: err}
	}
	versions := r.kept.history()
	if _, err := hostfuncs.RestoreWorkspace(ctx, grant, run, versions, &holding{run: r}); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var unusable *hostfuncs.WorkspaceError
		if errors.As(err, &unusable) {
			return nil, &DirError{Err: err}
		}
		return nil, r.notRestored(ctx, err)
	}
	return lastOf(versions), nil
}

// lastOf are the files that there are after these versions.
func lastOf(versions []hostfuncs.Version) (files []File) {
	last := map[string]hostfuncs.Version{}
	for _, v := range versions {
		last[v.Path] = v
	}
	for path, v := range last {
		if !v.Removed {
			files = append(files, File{Path: path, Artifact: v.Artifact})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}
