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
	partial bool             // it is a copy that was cut off
}

// load reads a run's log and holds it against the rules again.
func (e *Engine) load(ctx context.Context, run string) (*loaded, error) {
	l := &loaded{state: &journal.State{Run: run}, history: new(journal.History), kept: newKept()}
	for entry, err := range e.cfg.Journal.Read(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		if err := l.state.Apply(entry); err != nil {
			return nil, damaged(run, err)
		}
		l.history.Add(entry)
		l.kept.add(entry)
		if entry.Kind != journal.Record {
			continue
		}
		switch entry.Name {
		case recordCopying, recordCopied:
			l.partial = entry.Name == recordCopying
		}
		if entry.Name != RecordGrants {
			continue
		}
		body, err := journal.Body(ctx, e.blobs, entry)
		if err != nil {
			return nil, err
		}
		var g hostfuncs.Grants
		if err := toolabi.Decode(body, &g); err != nil {
			return nil, damaged(run, err)
		}
		l.grants = l.grants.Union(g)
	}
	return l, nil
}
