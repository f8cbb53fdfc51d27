package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/toolabi"
)

// failure is a finding out of an error, with the words and the advice that its report has.
func (a *app) failure(h health, err error) finding {
	p := a.problem(err)
	next := p.next
	if next == "" {
		next = "wrun explain " + p.code.id
	}
	return finding{h, p.title, next}
}

// place looks at where the journal is.
func (a *app) place() (path string, p boltdb.Place, err error) {
	if path, err = a.journal(); err != nil {
		return "", p, err
	}
	p, err = boltdb.Look(path)
	return path, p, err
}

func checkPlace(a *app, _ context.Context) finding {
	path, p, err := a.place()
	switch {
	case err != nil:
		return a.failure(failing, err)
	case p.Network != "":
		return finding{failing, fmt.Sprintf("%s is on a network file system (%s), where no journal is opened", p.Dir, p.Network), "say --journal FILE, on a disk of this machine"}
	case !writable(p.Dir):
		return finding{failing, fmt.Sprintf("%s cannot be written to", p.Dir), "say --journal FILE, or become who may"}
	}
	return fine("%s, on a disk of this machine", path)
}

func checkLock(a *app, _ context.Context) finding {
	_, p, err := a.place()
	who := "a process"
	if p.PID != 0 {
		who = fmt.Sprintf("process %d", p.PID)
	}
	switch {
	case err != nil:
		return a.failure(failing, err)
	case p.Stopped:
		return finding{failing, who + " has the journal open and is stopped, so that nobody else gets in", fmt.Sprintf("kill -CONT %d", p.PID)}
	case p.Taken && p.Waits:
		return fine("%s has the journal open, and another one waits for it", who)
	case p.Taken:
		return fine("%s has the journal open", who)
	}
	return fine("nobody has the journal open")
}

// inside opens the journal as it is, and waits for nobody for long.
func (a *app) inside(ctx context.Context, f func(j *boltdb.Journal) finding) finding {
	path, err := a.journal()
	if err != nil {
		return a.failure(failing, err)
	}
	j, err := boltdb.Open(ctx, path, boltdb.Options{NoMigrate: true, BusyTimeout: doctorTime / 4})
	switch {
	case errors.Is(err, journal.ErrNoJournal):
		return fine("there is none yet; the first call makes it")
	case errors.Is(err, journal.ErrOlder):
		return finding{warning, toolabi.CleanLine(err.Error(), 500), "the next command brings it up to date, behind a copy; \"wrun backup\" before that keeps another one"}
	case errors.Is(err, journal.ErrBusy):
		return a.failure(warning, err)
	case err != nil:
		return a.failure(failing, err)
	}
	found := f(j)
	if err := j.Close(); err != nil {
		return a.failure(failing, err)
	}
	return found
}

// maxCounted is how many runs doctor looks at.
const maxCounted = 10_000

// counted looks at the runs of a journal: how many there are, and when the last entry of theirs was written. more says that there are more.
func counted(ctx context.Context, j *boltdb.Journal) (n int, last int64, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, doctorTime/4)
	defer cancel()
	for s, err := range j.List(ctx, journal.Query{}) {
		if ctx.Err() != nil || n == maxCounted {
			return n, last, true, nil
		}
		if err != nil {
			return n, last, false, err
		}
		n++
		last = max(last, s.Time)
	}
	return n, last, false, nil
}

func checkRuns(a *app, ctx context.Context) finding {
	return a.inside(ctx, func(j *boltdb.Journal) finding {
		n, _, more, err := counted(ctx, j)
		if err != nil {
			return a.failure(failing, err)
		}
		_, p, err := a.place()
		if err != nil {
			return a.failure(failing, err)
		}
		runs := number(uint64(n), "run", "runs")
		if more {
			runs = "more than " + runs
		}
		return fine("schema %d, %s, %s", journal.Schema, bytesText(p.Size), runs)
	})
}

func checkSpace(a *app, _ context.Context) finding {
	_, p, err := a.place()
	need := uint64(boltdb.Needs(toolabi.MaxOutput))
	switch {
	case err != nil:
		return a.failure(failing, err)
	case !p.Known:
		return finding{warning, "the system does not say how much is free", ""}
	case p.Free < need:
		return finding{failing, fmt.Sprintf("%s are free in %s, and an effect wants up to %s before it begins", bytesText(int64(p.Free)), p.Dir, bytesText(int64(need))), "make room; \"wrun gc\" and \"wrun compact\" give some back"}
	case p.Free < 16*need:
		return finding{warning, fmt.Sprintf("%s are free in %s, enough for %d effects at a time", bytesText(int64(p.Free)), p.Dir, p.Free/need), "make room"}
	}
	return fine("%s are free; an effect wants up to %s before it begins", bytesText(int64(p.Free)), bytesText(int64(need)))
}

// clockSlack is how far behind the last entry the clock may be: what clocks of a machine differ by after they were set.
const clockSlack = time.Second

func checkClock(a *app, ctx context.Context) finding {
	began, last := time.Now(), int64(0)
	a.inside(ctx, func(j *boltdb.Journal) (f finding) { // what is wrong with the journal is another check's
		if _, is, _, err := counted(ctx, j); err == nil {
			last = is
		}
		return f
	})
	now := time.Now()
	if jump := now.Round(0).Sub(began.Round(0)) - now.Sub(began); jump.Abs() > clockSlack {
		return finding{warning, fmt.Sprintf("the clock was set by %s while this was looked at", jump.Round(time.Millisecond)), "let one program set it, and gradually"}
	}
	return clockFinding(now, last)
}

// clockFinding judges the clock by the time of the last entry, 0 where there is none.
func clockFinding(now time.Time, last int64) finding {
	switch back := time.Unix(0, last).Sub(now); {
	case now.Year() < 2025:
		return finding{failing, "it is " + now.UTC().Format(time.RFC3339) + " by the clock, which cannot be", "set the clock; times of waits and keys go by it"}
	case last != 0 && back > clockSlack:
		return finding{warning, fmt.Sprintf("the last entry of the journal is %s ahead of the clock, which was set back since, or was wrong then", back.Round(time.Second)), "set the clock; times of waits and keys go by it"}
	}
	return fine("%s; nothing that is known of the journal is from later", now.UTC().Format(time.RFC3339))
}

// beside are the files and directories of the journal.
func beside(path string) []string {
	return []string{filepath.Dir(path), path, path + ".blobs", path + ".owners"}
}
