package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

func newShow(a *app) *cobra.Command {
	var files, artifact string
	c := &cobra.Command{
		Use:   "show RUN|FILE",
		Short: "Show what a run is made of and what came of each step",
		Long: `Show what a run is made of, what came of each step, and which artifacts it has.

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
				if a.json {
					return a.line(p.json(h))
				}
				return a.printPicture(h, p)
			})
		},
	}
	c.Flags().StringVar(&files, "files", "", "instead, write the files of the run's workspace, as its log has them, into a `DIRECTORY` that is empty or new")
	c.Flags().StringVar(&artifact, "artifact", "", "write the artifact of this `DIGEST` to standard output")
	c.MarkFlagsMutuallyExclusive("files", "artifact")
	return c
}

func (a *app) printPicture(h *wrun.Host, p *picture) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run      %s\nstatus   %s\ndriver   %s\nbegan    %s, last entry %s\n",
		p.state.Run, h.Status(p.state), p.spec.Driver, clock(p.state.Began), clock(p.state.Time))
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
	b.WriteString("\n")
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range p.steps {
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\n", s.step, s.status, clock(s.began), toolabi.CleanLine(s.text(), 300))
	}
	if err := rows.Flush(); err != nil {
		return err
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
			next = append(next, a.answerStep(run, step, ""))
		}
	}
	switch {
	case len(next) > 0:
	case status == journal.Limited:
		next = append(next, a.raise(run, limitIn(p.stopped)))
	case status == journal.Diverged:
		next = append(next, a.cmd("log "+run))
	case status == journal.Waiting && p.state.Due != 0:
		next = append(next, a.cmd("resume "+run+" --wait"))
	case status == journal.Interrupted || status == journal.Waiting:
		next = append(next, a.cmd("resume "+run))
	}
	return next
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

// text says what the step calls, with what is worth knowing.
func (s *stepPicture) text() string {
	words := []string{s.name}
	if s.note != "" {
		words = append(words, s.note)
	}
	if s.err != nil {
		words = append(words, "- "+s.err.Error())
	}
	if s.fuel != 0 {
		words = append(words, fmt.Sprintf("- fuel %d", s.fuel))
	}
	if s.status == "in doubt" && s.key != "" {
		words = append(words, "- idempotency key "+s.key)
	}
	if s.shown != nil {
		words = append(words, "- of "+s.shown.Tool+" "+toolabi.CutText(oneLine(s.shown.Input), 100))
	}
	if s.edited != nil {
		words = append(words, "- agreed to with "+toolabi.CutText(oneLine(s.edited), 100))
	}
	if s.said != "" {
		words = append(words, "- said by "+s.said)
	}
	return strings.Join(words, " ")
}

func (p *picture) json(h *wrun.Host) map[string]any {
	l := runLine(h, p.state)
	l["spec"] = specLine(p.spec)
	l["grants"] = p.grants
	if !p.budget.IsZero() {
		l["budget"] = budgetLine(p.budget)
	}
	if p.stopped != "" {
		l["stopped"] = p.stopped
	}
	steps := []map[string]any{}
	for _, s := range p.steps {
		steps = append(steps, s.json())
	}
	l["step_list"] = steps
	if p.ledger != nil {
		l["cost"] = costLine(p.ledger)
	}
	if p.unknown != "" {
		l["cost_unknown"] = p.unknown
	}
	if len(p.artifacts) > 0 {
		l["artifacts"] = artifactLines(p.artifacts)
	}
	if p.output != nil {
		l["output"] = shown(p.output)
	}
	if p.failure != nil {
		l["error"] = errorLine(p.failure)
	}
	return l
}

func (s *stepPicture) json() map[string]any {
	l := map[string]any{"step": s.step, "name": s.name, "class": s.class.String(), "status": s.status, "began": stamp(s.began)}
	if s.ended != 0 {
		l["ended"] = stamp(s.ended)
	}
	if s.note != "" {
		l["asked"] = s.note
	}
	if s.key != "" {
		l["key"] = s.key
	}
	if s.fuel != 0 {
		l["fuel"] = s.fuel
	}
	if s.err != nil {
		l["error"] = errorLine(s.err)
	}
	if s.shown != nil {
		l["tool"], l["input"] = s.shown.Tool, shown(s.shown.Input)
	}
	if s.edited != nil {
		l["edited"] = shown(s.edited)
	}
	if s.said != "" {
		l["said"] = s.said
	}
	return l
}
