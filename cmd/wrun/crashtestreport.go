package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// crashtestLegend says what the columns of the table are.
const crashtestLegend = `
acted  effects that the world did      again  requests sent again under their key
repeat effects done too often          lost   effects not done
doubt  effects of unknown outcome: found by a look-up, told as a person would
other  runs that ended otherwise than without a death
`

const crashtestModelLegend = `asked  answers of the model that were paid for; twice: which it was in the middle of
`

// crashtestReport writes what came of a test. again is the command that makes one trial again, but for its number.
func (a *app) crashtestReport(rep *crashtest.Report, again string) error {
	sum := rep.Sum()
	if a.json {
		for _, t := range rep.Trials {
			if err := a.line(map[string]any{"trial": t}); err != nil {
				return err
			}
		}
		err := a.line(map[string]any{"summary": map[string]any{
			"places": rep.Places, "visited": rep.Visited, "seed": rep.Seed, "total": sum, "undisturbed": rep.Base,
		}})
		if err != nil {
			return err
		}
		return crashtestVerdict(rep)
	}
	text := undisturbedText(rep) + "\n" + rep.Table() + crashtestLegend
	if sum.Asked > 0 {
		text += crashtestModelLegend
	}
	if sum.Missed > 0 {
		text += fmt.Sprintf("%s did not come by its place again, and nobody was killed in it\n", number(uint64(sum.Missed), "trial", "trials"))
	}
	for i, t := range rep.Failed() {
		if i == maxShownTrials {
			text += fmt.Sprintf("\nand %d more trials; with --json all are shown\n", len(rep.Failed())-i)
			break
		}
		text += "\n" + a.failedTrial(rep, t, again)
	}
	if err := a.printf("%s", text); err != nil {
		return err
	}
	return crashtestVerdict(rep)
}

// maxShownTrials is how many trials with something wrong are shown with all that is known.
const maxShownTrials = 3

// undisturbedText says what there was to visit.
func undisturbedText(rep *crashtest.Report) string {
	s := fmt.Sprintf("undisturbed: %s, %s", number(uint64(rep.Base.Acted), "effect", "effects"), number(uint64(rep.Places), "place to die", "places to die"))
	if rep.Visited < rep.Places {
		s += fmt.Sprintf("; %d of them by chance (--seed %d)", rep.Visited, rep.Seed)
	}
	if why := rep.Base.Failure(); why != "" {
		s += "\nundisturbed, it fails: " + toolabi.CleanLine(why, 300)
	}
	return s + "\n"
}

// failedTrial shows a trial with something wrong: where the process died, what is wrong, both traces, and how to make it again.
func (a *app) failedTrial(rep *crashtest.Report, t *crashtest.Trial, again string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "trial %d: killed %s\n", t.N, t.Where)
	for _, f := range t.Findings {
		fmt.Fprintf(&b, "  wrong    %s\n", toolabi.CleanLine(f, 300))
	}
	fmt.Fprintf(&b, "  world    without a death: %s\n", seenText(rep.Base.Seen))
	fmt.Fprintf(&b, "           now:             %s\n", seenText(t.Seen))
	fmt.Fprintf(&b, "  log      without a death: %s\n", logText(rep.Base.Log))
	fmt.Fprintf(&b, "           now:             %s\n", logText(t.Log))
	fmt.Fprintf(&b, "  journal  %s\n", t.Journal)
	fmt.Fprintf(&b, "  again    %s%d\n", a.cmdWithoutJournal(again), t.N)
	return b.String()
}

// seenText is what the world saw, on one line.
func seenText(seen []world.Event) string {
	var words []string
	for _, e := range seen {
		w := e.Route
		if e.Kind == world.KindMail {
			w = "mail"
		}
		switch {
		case e.Replayed:
			w += " (again)"
		case !e.Acted:
			w += " (no effect)"
		}
		words = append(words, toolabi.CleanLine(w, 80))
	}
	return strings.Join(words, ", ")
}

// logText is a log on one line.
func logText(log []crashtest.Line) string {
	var words []string
	for _, l := range log {
		w := l.Kind
		if l.Step != "" {
			w += " " + string(l.Step)
		}
		words = append(words, w)
	}
	return strings.Join(words, ", ")
}

// crashtestVerdict is the error of a test that has found something, or whose run fails in any case: what is behind the failure was not tested.
func crashtestVerdict(rep *crashtest.Report) error {
	var said []string
	if why := rep.Base.Failure(); why != "" {
		said = append(said, "the run fails also when nobody disturbs it: "+toolabi.CleanLine(why, 300))
	}
	if failed := len(rep.Failed()); failed > 0 {
		s := rep.Sum()
		said = append(said, fmt.Sprintf("%d of %d trials: %s repeated, %d lost, %d ended otherwise",
			failed, s.Kills, number(uint64(s.Repeated), "effect", "effects"), s.Lost, s.Differs))
	}
	if len(said) == 0 {
		return nil
	}
	return &codedError{codeCrashtest, errors.New(strings.Join(said, "; "))}
}
