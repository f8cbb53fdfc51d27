package faults

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Control is a build that breaks a rule on purpose, and a way to make faults that has to notice it.
type Control struct {
	// Tag is its build tag, Way the part of a fault's name, By what the way found, "" for nothing.
	Tag, Way, By string
	// Skipped says why nothing was tested.
	Skipped string
}

// controls are those that the tiers have to notice, and with which share of tier 1 they do.
var controls = []struct {
	tag, way string
	share    float64
}{
	{"broken_nosync", "power cut, writer, ordered", 0.02},
	{"broken_nosync", "power cut, runs, ordered", 0.05},
	{"broken_nosync", "crash images", 0.02},
	{"broken_nointent", "process killed, every class", 0.1},
	{"broken_nointent", "crash points", 0.5},
	{"broken_resultfirst", "process killed, every class", 0.1},
	{"broken_resultfirst", "crash points", 0.5},
	{"broken_retry", "crash images", 0.3},
	{"broken_blobdirsync", "crash images", 0.02},
	{"broken_badrecord", "bit flipped", 0.1},
}

// controls lets the ways find out every control that is theirs.
func (t *tier) controls(ctx context.Context) error {
	for _, c := range controls {
		if t.Only != "" && !strings.Contains("control "+c.tag, t.Only) {
			continue
		}
		t.say("control %s: %s", c.tag, c.way)
		sub := &tier{Config: t.Config, cache: t.cache, report: &Report{}}
		sub.Tier, sub.Share, sub.Only, sub.Tags = 1, c.share, c.way, c.tag
		sub.Dir = filepath.Join(t.Dir, c.tag)
		result := Control{Tag: c.tag, Way: c.way}
		var err error
		if sub.programs, err = MakePrograms(ctx, filepath.Join(sub.Dir, "programs"), c.tag); err != nil {
			return err
		}
		for _, w := range ways {
			if err = sub.way(ctx, w); err != nil {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errCalm):
			result.By = "a run that nobody disturbs: " + firstLine(err.Error())
		case err != nil:
			return fmt.Errorf("control %s: %w", c.tag, err)
		}
		for _, row := range sub.report.Rows {
			if result.Skipped = row.Skipped; len(row.Found) > 0 {
				result.By = fmt.Sprintf("after %d faults: %s", row.Landed, firstLine(row.Found[0]))
			}
		}
		t.report.Controls = append(t.report.Controls, result)
		t.say("  %s%s", result.By, result.Skipped)
	}
	return nil
}

// firstLine is the beginning of what was found, for a table, without the paths in it.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if i := strings.LastIndex(line, " I"); i > 0 {
		line = line[i+1:]
	}
	line, _, _ = strings.Cut(line, " /") // a path
	return strings.ReplaceAll(line[:min(len(line), 120)], "|", "/")
}
