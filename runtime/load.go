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
}

// load reads a run's log and holds it against the rules again.
func (e *Engine) load(ctx context.Context, run string) (*loaded, error) {
	l := &loaded{state: &journal.State{Run: run}, history: new(journal.History), kept: newKept(e.cfg.RunQuota > 0)}
	if err := e.loadMore(ctx, l); err != nil {
		return nil, err
	}
	return l, nil
}

// loadMore reads what was added to a log since it was read. With an error l is of no use any more.
func (e *Engine) loadMore(ctx context.Context, l *loaded) error {
	run := l.state.Run
	for entry, err := range e.cfg.Journal.Read(ctx, run, l.state.Len) {
		if err != nil {
			return err
		}
		if err := l.state.Apply(entry); err != nil {
			return damaged(run, err)
		}
		l.history.Add(entry)
		l.kept.add(entry)
		l.spent.add(entry)
		if entry.Kind != journal.Record {
			continue
		}
		switch entry.Name {
		case recordCopying, recordCopied:
			l.partial = entry.Name == recordCopying
		}
		if err := e.loadRecord(ctx, l, entry); err != nil {
			return err
		}
	}
	return nil
}

// loadRecord folds a record that holds what a resume has added.
func (e *Engine) loadRecord(ctx context.Context, l *loaded, rec journal.Entry) error {
	if rec.Name != RecordGrants && rec.Name != RecordBudget {
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
