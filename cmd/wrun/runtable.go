package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// tableBlock is how many runs are lined up with each other, so that a long list does not wait for its end.
	tableBlock = 1000
	// leastLabels is what the labels of a run have in any case, in columns.
	leastLabels = 20
)

// runTable lists runs for people, in blocks of lines, or as JSON, a line each.
type runTable struct {
	a     *app
	h     *wrun.Host
	block []*journal.State
	head  bool // it has a heading already
}

// add lists a run, which must not change afterwards.
func (t *runTable) add(s *journal.State) error {
	if t.a.json {
		return t.a.line(runLine(t.h, s))
	}
	if t.block = append(t.block, s); len(t.block) == tableBlock {
		return t.flush()
	}
	return nil
}

// end lists what is left; with heading also where there is no run at all.
func (t *runTable) end(heading bool) error {
	if t.a.json || len(t.block) == 0 && (t.head || !heading) {
		return nil
	}
	return t.flush()
}

func (t *runTable) flush() error {
	columns := t.a.columns()
	lines, width := t.lined(true)
	if width > columns { // what takes the most room and says the least is left out
		lines, width = t.lined(false)
	}
	var b strings.Builder
	labels := false
	for _, s := range t.block {
		labels = labels || len(s.Labels) > 0
	}
	f, ok := t.a.out.(*os.File)
	room := max(columns-width-2, leastLabels)
	for i, line := range lines {
		text := ""
		switch {
		case i == 0 && t.head:
			continue
		case i == 0 && labels:
			text = "LABELS"
		case i > 0:
			text = labelText(t.block[i-1])
			if len(text) > room && ok && isTerminal(f) { // elsewhere something may look for them
				text = toolabi.CutText(text, room-1) + "…"
			}
		}
		if text != "" {
			line = fmt.Sprintf("%-*s  %s", width, line, text)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	t.head, t.block = true, nil
	return t.a.write([]byte(b.String()))
}

// lined are the heading and the runs of a block, lined up, and how wide the widest is. Ids and all else are ASCII.
func (t *runTable) lined(began bool) (lines []string, width int) {
	var b bytes.Buffer
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(run, status, driver, steps, first, last string) {
		if first += "\t"; !began {
			first = ""
		}
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%s%s\n", run, status, driver, steps, first, last)
	}
	row("RUN", "STATUS", "DRIVER", "STEPS", "BEGAN", "LAST ENTRY")
	for _, s := range t.block {
		status := string(t.h.Status(s))
		if s.Late > 0 && s.Finished {
			status += ", late" // an outcome came after the end
		}
		row(s.Run, status, toolabi.CleanLine(s.Driver, 40), fmt.Sprint(s.Steps), clock(s.Began), clock(s.Time))
	}
	_ = rows.Flush() // into memory
	lines = strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for _, l := range lines {
		width = max(width, len(l))
	}
	return lines, width
}
