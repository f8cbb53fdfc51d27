package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
)

// maxAmbiguous is how many runs are listed of those that a beginning of an id could mean.
const maxAmbiguous = 10

// ambiguousError says that what was given is the beginning of several ids.
type ambiguousError struct {
	given string
	runs  []string
	more  bool // there are others
}

func (e *ambiguousError) Error() string {
	return fmt.Sprintf("%s is the beginning of the ids of several runs", e.given)
}

// ambiguousProblem lists the runs that could be meant. None of them is the one that it is about.
func (a *app) ambiguousProblem(e *ambiguousError) problem {
	known := strings.Join(e.runs, "\n")
	if e.more {
		known += "\nand others"
	}
	return problem{code: codeAmbiguous, known: known, next: "the same command, with more of the id", unbegun: true}
}

// runArg returns the id of the run that an argument RUN means: the run of this very id, else the only one whose id begins so. What
// means none is returned as it is, so that whoever uses it says what it is: not there, or removed. An id with a ~ in it, such as that
// of a rollback, is meant only when the ~ is given, so that a run can be named beside its rollback. Errors: *ambiguousError; the journal's.
func (a *app) runArg(ctx context.Context, h *wrun.Host, given string) (string, error) {
	if !beginsID(given) || isThere(ctx, h.Journal(), given) {
		return given, nil
	}
	var found ambiguousError
	for s, err := range h.Journal().List(ctx, journal.Query{After: given}) {
		if err != nil {
			return "", err
		}
		if !strings.HasPrefix(s.Run, given) {
			break
		}
		if strings.Contains(s.Run, "~") && !strings.Contains(given, "~") {
			continue
		}
		if found.more = len(found.runs) == maxAmbiguous; found.more {
			break
		}
		found.runs = append(found.runs, s.Run)
	}
	switch len(found.runs) {
	case 0:
		return given, nil
	case 1:
		return found.runs[0], nil
	}
	found.given = given
	return "", &found
}

// runArgs is runArg for several arguments.
func (a *app) runArgs(ctx context.Context, h *wrun.Host, given []string) (runs []string, err error) {
	for _, g := range given {
		run, err := a.runArg(ctx, h, g)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// runTaken is runOf for what changes the run: it says which one that is, where it was not given whole.
func (a *app) runTaken(ctx context.Context, h *wrun.Host, given string, fit fits) (string, error) {
	run, err := a.runOf(ctx, h, given, fit)
	switch {
	case err == nil && given == "":
		a.say("run %s", run)
	case err == nil && run != given:
		a.say("%s is run %s", given, run)
	}
	return run, err
}

// beginsID says whether an id of a run can begin so.
func beginsID(text string) bool {
	return journal.ValidateRun(strings.TrimRight(text, "._-~")) == nil
}

// isThere says whether a run of this very id is there, whole or damaged, or was removed.
func isThere(ctx context.Context, j journal.Journal, run string) bool {
	for range j.List(ctx, journal.Query{Run: run}) {
		return true
	}
	return errors.Is(absent(ctx, j, run), journal.ErrRemoved)
}
