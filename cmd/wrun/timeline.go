package main

import (
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/internal/screen"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// The marks of a timeline.
const (
	markDone    = '#'
	markWaiting = '~'
	markLeft    = '-'
	markDoubt   = '?'
)

// timeline draws steps, one line each and more where there is more to say, no wider than so many columns where their names permit: its
// name, what became of it, when it was, how long it took, what it computed and cost, and what it calls.
func (p *picture) timeline(columns int, paint screen.Paint, steps []*stepPicture) string {
	rows := inTree(steps)
	t := p.layout(columns, rows)
	var b strings.Builder
	b.WriteString(strings.TrimRight(t.head(), " ") + "\n")
	for _, r := range rows {
		b.WriteString(strings.TrimRight(t.line(p, paint, r), " ") + "\n")
		for _, text := range t.details(r) {
			for _, line := range short(screen.Wrap(text, max(columns-r.depth*2-4, 20)), 4) {
				b.WriteString(strings.Repeat(" ", r.depth*2+4) + line + "\n")
			}
		}
	}
	b.WriteString(t.legend())
	return b.String()
}

// row is a step in its place below others.
type row struct {
	*stepPicture
	depth int
}

// inTree puts steps below the steps that they are inside of, and attempts below each other, each in the order of the log.
func inTree(steps []*stepPicture) (rows []row) {
	inside := map[journal.Step][]*stepPicture{}
	there := map[journal.Step]bool{}
	for _, s := range steps {
		there[s.step] = true
	}
	for _, s := range steps {
		parent := s.step.Parent()
		if !there[parent] { // the only one that is shown, or the top
			parent = ""
		}
		inside[parent] = append(inside[parent], s)
	}
	var walk func(of journal.Step, depth int)
	walk = func(of journal.Step, depth int) {
		rank := map[journal.Step]int{}
		for i, s := range inside[of] {
			if first := s.step.First().Asked(); rank[first] == 0 {
				rank[first] = i + 1
			}
		}
		slices.SortStableFunc(inside[of], func(x, y *stepPicture) int { return rank[x.step.First().Asked()] - rank[y.step.First().Asked()] })
		for _, s := range inside[of] {
			rows = append(rows, row{s, depth})
			walk(s.step, depth+1)
		}
	}
	walk("", 0)
	return rows
}

// table is how wide the columns of a timeline are; 0 for one that is left out.
type table struct {
	axis                                          *screen.Axis
	step, status, at, bar, took, fuel, cost, what int
	waits, left, doubt                            bool // marks that are in it
}

// layout decides on the columns: names and words take what they need, the bar and what is called share the rest.
func (p *picture) layout(columns int, rows []row) *table {
	t := &table{step: 4, status: 6, took: 6}
	for _, r := range rows {
		t.step = max(t.step, r.depth*2+len(r.step))
		t.status = max(t.status, len(word(r.status)))
		t.fuel = max(t.fuel, len(fuelText(r.fuel)))
		t.cost = max(t.cost, len(p.costText(r.stepPicture)))
		t.what = max(t.what, screen.Columns(called(r.stepPicture)), len("CALLS"))
	}
	t.step = min(t.step, columns*3/10)
	if columns >= 100 {
		t.at = 7
	}
	rest := columns - 2
	for _, w := range []int{t.step, t.status, t.at, t.took, t.fuel, t.cost} {
		if w > 0 {
			rest -= w + 2
		}
	}
	if most := min(max(rest-12, 0), max(rest*6/10, 20)); t.what > most {
		if t.what = most; most < 12 { // it goes below
			t.what = 0
		}
	}
	t.bar = min(max(rest-t.what, 10), 60)
	t.axis = p.axis(rows, t.bar)
	return t
}

// axis is the time of the run, with what its steps did.
func (p *picture) axis(rows []row, columns int) *screen.Axis {
	waited := map[journal.Step][]screen.Span{} // inside of a step
	for _, r := range rows {
		if r.onCut == journal.Await {
			for s := r.step.Parent(); s != ""; s = s.Parent() {
				waited[s] = append(waited[s], p.span(r.stepPicture))
			}
		}
	}
	var busy []screen.Span
	for _, r := range rows {
		if r.onCut == journal.Await {
			continue
		}
		busy = append(busy, screen.Without(screen.Within(p.span(r.stepPicture), p.driven), waited[r.step])...)
	}
	all := screen.Span{From: p.state.Began, To: p.now}
	if len(rows) > 0 && len(rows) < len(p.steps) { // of a part
		all = p.span(rows[0].stepPicture)
		for _, r := range rows {
			s := p.span(r.stepPicture)
			all = screen.Span{From: min(all.From, s.From), To: max(all.To, s.To)}
		}
	}
	return screen.NewAxis(all, busy, columns)
}

// span is when a step was: up to now when it is open.
func (p *picture) span(s *stepPicture) screen.Span {
	if s.ended == 0 {
		return screen.Span{From: s.began, To: max(p.now, s.began)}
	}
	return screen.Span{From: s.began, To: s.ended}
}

func (t *table) head() string {
	return t.cells("STEP", "STATUS", "STATUS", "AT", screen.Left("WHEN", t.bar), "TOOK", "FUEL", "COST", "CALLS")
}

// cells are the cells of a line, in their columns. painted is the status in its colour, which takes no columns.
func (t *table) cells(step, status, painted, at, bar, took, fuel, cost, what string) string {
	cells := []string{screen.Left(step, t.step), painted + strings.Repeat(" ", max(t.status-len(status), 0))}
	for _, c := range []struct {
		text    string
		columns int
	}{{at, t.at}, {bar, -1}, {took, t.took}, {fuel, t.fuel}, {cost, t.cost}} {
		if c.columns < 0 {
			cells = append(cells, c.text)
		} else if c.columns > 0 {
			cells = append(cells, screen.Right(c.text, c.columns))
		}
	}
	if t.what > 0 {
		cells = append(cells, what)
	}
	return strings.Join(cells, "  ")
}

// line is the line of a step.
func (t *table) line(p *picture, paint screen.Paint, r row) string {
	took := ""
	if r.ended != 0 || r.status == "under way" {
		s := p.span(r.stepPicture)
		took = tookText(s.To - s.From)
	}
	step := screen.CutFront(strings.Repeat(" ", r.depth*2)+string(r.step), t.step)
	status := word(r.status)
	return t.cells(step, status, painted(paint, status), "+"+tookText(r.began-p.state.Began), t.drawn(p, r.stepPicture), took,
		fuelText(r.fuel), p.costText(r.stepPicture), r.beside(t.what))
}

// drawn is the bar of a step.
func (t *table) drawn(p *picture, s *stepPicture) string {
	line, span := t.axis.Line(), p.span(s)
	if s.onCut == journal.Await {
		t.waits = true
		t.axis.Mark(line, span, markWaiting)
		return string(line)
	}
	driven, mark := screen.Within(span, p.driven), byte(markDone)
	if s.status == "in doubt" {
		t.doubt, mark = true, markDoubt
	}
	if len(driven) != 1 || driven[0] != span {
		t.axis.Mark(line, span, markLeft)
	}
	if len(driven) == 0 { // as where another process appended what it had
		driven = []screen.Span{{From: span.From, To: span.From}}
	}
	for _, d := range driven {
		t.axis.Mark(line, d, mark)
	}
	t.left = t.left || slices.Contains(line, markLeft)
	return string(line)
}

// legend explains the marks that are not plain, and what is not in proportion; nothing where everything is.
func (t *table) legend() string {
	var words []string
	if t.waits {
		words = append(words, "~ waits")
	}
	if t.left {
		words = append(words, "- nobody drives it")
	}
	if t.doubt {
		words = append(words, "? may or may not have happened")
	}
	if t.axis.Left > 0 {
		words = append(words, tookText(t.axis.Left)+" of pauses are left out")
	}
	if len(words) == 0 {
		return ""
	}
	return "(" + strings.Join(words, "; ") + ")\n"
}

// word is the status of a step as people see it.
func word(status string) string {
	if status == "ok" {
		return "done"
	}
	return status
}

// painted is a status in its colour.
func painted(paint screen.Paint, status string) string {
	switch status {
	case "done":
		return paint.Green(status)
	case "failed", "denied", "diverged":
		return paint.Red(status)
	case "in doubt", "uncertain", "waiting", "limited", "interrupted", "open", "not sent":
		return paint.Yellow(status)
	}
	return paint.Bold(status)
}

// called is what a step calls, with what it is about.
func called(s *stepPicture) string {
	return toolabi.CleanLine(strings.TrimSpace(s.name+" "+s.note), 300)
}

// beside is what a step calls as it stands in a column: with what it is about, where there is room for that.
func (r row) beside(columns int) string {
	if whole := called(r.stepPicture); screen.Columns(whole) <= columns {
		return whole
	}
	return screen.Cut(toolabi.CleanLine(r.name, 300), columns)
}

// details are what else is to be said of a step, a text each: first what its columns have no room for.
func (t *table) details(r row) (texts []string) {
	add := func(text string) { texts = append(texts, toolabi.CleanLine(text, 2000)) }
	if r.depth*2+len(r.step) > t.step {
		add("step " + string(r.step))
	}
	switch name := toolabi.CleanLine(r.name, 300); {
	case screen.Columns(called(r.stepPicture)) <= t.what:
	case screen.Columns(name) <= t.what:
		add(r.note)
	default:
		add(called(r.stepPicture))
	}
	if r.err != nil {
		add(r.err.Error())
	}
	if r.shown != nil {
		add("of " + r.shown.Tool + " " + toolabi.CutText(oneLine(r.shown.Input), 300))
	}
	if r.edited != nil {
		add("agreed to with " + toolabi.CutText(oneLine(r.edited), 300))
	}
	if r.said != "" {
		add("said by " + r.said)
	}
	if r.status == "in doubt" && r.key != "" {
		add("idempotency key " + r.key)
	}
	if r.status == "waiting" {
		add(r.waitsFor())
	}
	return texts
}

// waitsFor says since when a step waits, and until when.
func (s *stepPicture) waitsFor() string {
	text := "since " + clock(s.began)
	if s.due != 0 {
		text += ", until " + clock(s.due)
	} else if s.until != 0 {
		text += ", a yes counts until " + clock(s.until)
	}
	return text
}

// short are the first of many lines; … says that there are more.
func short(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most-1:most-1], screen.Cut(lines[most-1], max(screen.Columns(lines[most-1])-2, 0))+" …")
}

// costText is what the answers of a model cost, or how many tokens they took where nobody said what those cost; "" for none.
func (p *picture) costText(s *stepPicture) string {
	switch {
	case s.paid.Answers == 0:
		return ""
	case p.priced():
		return agent.FormatAmount(s.paid.Cost)
	}
	return compact(uint64(s.paid.Usage.Total())) + " tok"
}

// fuelText is how much a call computed; "" for nothing.
func fuelText(fuel uint64) string {
	if fuel == 0 {
		return ""
	}
	return compact(fuel)
}
