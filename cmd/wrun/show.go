package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

func newShow(a *app) *cobra.Command {
	var files, artifact, step string
	c := &cobra.Command{
		Use:   "show RUN|FILE",
		Short: "Show what a run is made of and what came of each step",
		Long: `Show what a run is made of, what came of each step and when, and which artifacts it has. Below a step are its other
attempts and what it did; # is when it was executed, ~ when it waited, - when nobody drove it.

With --step one step is shown whole: what was asked and what came back, when, under which key, and what to type.

FILE is one that "wrun export" wrote, with a / in its path or .wrun at its end: it is looked at where it is,
and imported nowhere.

With --artifact the bytes of one of them are written to standard output, as they are; with --files the
files of its workspace into a directory.`,
		Args: a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return a.reading(c.Context(), first(args), func(h *wrun.Host, run string) error {
				switch {
				case c.Flags().Changed("files"):
					return a.writeFiles(c, h, run, files)
				case c.Flags().Changed("artifact"):
					return a.writeArtifact(c, h, run, artifact)
				}
				p, err := readPicture(c.Context(), h, run)
				if err != nil {
					return err
				}
				if c.Flags().Changed("step") {
					return a.showStep(c, h, p, journal.Step(step))
				}
				if a.json {
					return a.line(p.json(h))
				}
				return a.printPicture(h, p)
			})
		},
	}
	c.Flags().StringVar(&files, "files", "", "instead, write the files of the run's workspace, as its log has them, into a `DIRECTORY` that is empty or new")
	c.Flags().StringVar(&artifact, "artifact", "", "write the artifact of this `DIGEST` to standard output")
	c.Flags().StringVar(&step, "step", "", "show this `STEP` alone, whole")
	c.MarkFlagsMutuallyExclusive("files", "artifact", "step")
	return c
}

func (a *app) printPicture(h *wrun.Host, p *picture) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run      %s\nstatus   %s\ndriver   %s\nbegan    %s, last entry %s\n",
		p.state.Run, painted(a.paint(), string(h.Status(p.state))), p.spec.Driver, clock(p.state.Began), clock(p.state.Time))
	if len(p.state.Labels) > 0 {
		fmt.Fprintf(&b, "labels   %s\n", labelText(p.state))
	}
	for _, m := range p.spec.Modules {
		name := m.Name
		if m.Manifest.Name != name { // which its store and its settings go by
			name += ", which is " + m.Manifest.Name
		}
		fmt.Fprintf(&b, "module   %s %s, digest %s\n", name, m.Manifest.Version, m.Digest.Short())
	}
	for _, w := range grantWords(p.grants) {
		fmt.Fprintf(&b, "grant    %s\n", w)
	}
	for _, m := range p.spec.Modules {
		for _, w := range grantWords(m.Grants) {
			fmt.Fprintf(&b, "grant    %s (to %s alone)\n", w, m.Name)
		}
	}
	if !p.budget.IsZero() {
		fmt.Fprintf(&b, "budget   %s\n", strings.Join(budgetWords(p.budget), " "))
	}
	if fuel := p.spec.Limits.Fuel; fuel != 0 {
		fmt.Fprintf(&b, "limit    fuel %d for each call\n", fuel)
	}
	if p.ledger != nil {
		fmt.Fprintf(&b, "model    %s\n", saving(p.ledger))
	}
	if p.unknown != "" {
		fmt.Fprintf(&b, "model    what it cost is not known: %s\n", toolabi.CleanLine(p.unknown, 500))
	}
	if len(p.steps) > 0 {
		b.WriteString("\n" + p.timeline(a.columns(), a.paint(), p.steps))
	}
	p.printArtifacts(&b)
	status := h.Status(p.state)
	switch {
	case p.failure != nil:
		fmt.Fprintf(&b, "\nfailed   %s\n", toolabi.CleanLine(p.failure.Error(), 1000))
	case p.output != nil:
		fmt.Fprintf(&b, "\noutput   %s\n", visible(p.output))
	case p.stopped != "" && status != journal.Running:
		fmt.Fprintf(&b, "\nstopped  %s\n", toolabi.CleanLine(p.stopped, 1000))
	}
	for _, l := range p.late {
		fmt.Fprintf(&b, "\nlate     %s %s %s: it came at %s, too late to count\n", l.Step, l.Name, l.Outcome, clock(l.Time))
	}
	for _, next := range a.nextOf(p, status) {
		fmt.Fprintf(&b, "\nnext     %s\n", strings.ReplaceAll(next, "\n", "\n         "))
	}
	return a.printf("%s", b.String())
}

// nextOf are the commands that bring a run further.
func (a *app) nextOf(p *picture, status journal.Status) []string {
	run := p.state.Run
	var next []string
	if a.bundled {
		return nil
	}
	if p.state.Late > 0 {
		next = append(next, a.cmd("resolve "+run+" --acknowledge"))
	}
	if status != journal.Running {
		for _, step := range p.state.InDoubt() {
			next = append(next, a.settleWith(run, string(step)))
		}
	}
	for _, step := range p.state.InOrder() {
		if o := p.state.Open[step]; o.OnCut == journal.Await && o.Due == 0 && !p.state.Finished {
			next = append(next, a.answerOpen(run, step, o.Expires))
		}
	}
	switch {
	case len(next) > 0:
	case status == journal.Limited:
		next = append(next, a.raiseAfter(run, p.stopped))
	case status == journal.Diverged:
		next = append(next, a.cmd("log "+run))
	case status == journal.Waiting && p.state.Due != 0:
		next = append(next, a.cmd("resume "+run+" --wait"))
	case status == journal.Interrupted || status == journal.Waiting:
		next = append(next, a.cmd("resume "+run))
	}
	return next
}

// answerOpen are the commands that answer an open question. To one that has expired nobody can say yes any more: whoever drives the run
// goes on with a no.
func (a *app) answerOpen(run string, step journal.Step, expires int64) string {
	if expires != 0 && time.Now().UnixNano() > expires {
		return a.cmd("resume "+run) + ", which goes on without a yes: the time for it is over"
	}
	return a.answerStep(run, step, "")
}

// raiseAfter are the commands that let a run go on which has reached a limit, as the note says with which it was let go of.
func (a *app) raiseAfter(run, note string) string {
	switch {
	case strings.HasPrefix(note, "the journal takes about "):
		return a.nextOfQuota(run, true)
	case strings.Contains(note, " bytes, its quota is "):
		return a.nextOfQuota(run, false)
	}
	return a.raise(run, limitIn(note))
}

// limitIn is the limit that a run has reached, as the note says with which it was let go of; "" for another one.
func limitIn(note string) string {
	for _, what := range []string{"steps", "tokens", "cost", "time"} {
		if strings.Contains(note, " reached its limit of "+what+": ") {
			return what
		}
	}
	return ""
}
