package runtime

import (
	"context"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// loaded is a log as it was read.
type loaded struct {
	state   *journal.State
	history *journal.History
	kept    *kept            // artifacts and versions of files
	grants  hostfuncs.Grants // what resumes have added
	budget  Budget           // what resumes have allowed
	spent   spent            // how long it was driven
	partial bool             // it is a copy that was cut off
	stopped string           // what was noted when it was let go of last
}

// load reads a run's log and holds it against the rules again.
func (e *Engine) load(ctx context.Context, run string) (*loaded, error) {
	l := e.unread(run)
	if err := e.loadMore(ctx, l); err != nil {
		return nil, err
	}
	return l, nil
}

// unread is a log of which nothing was read.
func (e *Engine) unread(run string) *loaded {
	return &loaded{state: &journal.State{Run: run}, history: new(journal.History), kept: newKept(e.cfg.RunQuota > 0)}
}

// loadMore reads what was added to a log since it was read. With an error l is of no use any more.
func (e *Engine) loadMore(ctx context.Context, l *loaded) error {
	for entry, err := range e.cfg.Journal.Read(ctx, l.state.Run, l.state.Len) {
		if err != nil {
			return err
		}
		if err := l.fold(entry); err != nil {
			return err
		}
		if err := e.loadRecord(ctx, l, entry); err != nil {
			return err
		}
	}
	return nil
}

// fold folds the log's next entry, but for what a record holds that a resume has added.
func (l *loaded) fold(entry journal.Entry) error {
	if err := l.state.Apply(entry); err != nil {
		return damaged(l.state.Run, err)
	}
	l.history.Add(entry)
	l.kept.add(entry)
	l.spent.add(entry)
	if entry.Kind == journal.Released {
		l.stopped = entry.Note
	}
	if entry.Kind == journal.Record && (entry.Name == recordCopying || entry.Name == recordCopied) {
		l.partial = entry.Name == recordCopying
	}
	return nil
}

// loadRecord folds a record that holds what a resume has added.
func (e *Engine) loadRecord(ctx context.Context, l *loaded, rec journal.Entry) error {
	if rec.Kind != journal.Record || rec.Name != RecordGrants && rec.Name != RecordBudget {
		return nil
	}
	body, err := journal.Body(ctx, e.blobs, rec)
	if err != nil {
		return err
	}
	var g hostfuncs.Grants
	var b Budget
	if rec.Name == RecordGrants {
		err = toolabi.Decode(body, &g)
	} else {
		err = toolabi.Decode(body, &b)
	}
	if err != nil {
		return damaged(l.state.Run, err)
	}
	l.grants, l.budget = l.grants.Union(g), l.budget.Raised(b)
	return nil
}
