package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/internal/screen"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// drawEvery is how often the lines of a terminal are drawn.
	drawEvery = 100 * time.Millisecond
	// drawAfter is how long something takes before it has a line, so that what is quick does not flicker.
	drawAfter = 150 * time.Millisecond
)

// spinner are the signs that show that something goes on.
const spinner = `|/-\`

// live are the lines below all that is written to a terminal while something is done: one for each step that a driver has under way, and
// for what else takes long. They go when it ends. The methods of nil do nothing; all may be called concurrently.
type live struct {
	a      *app
	screen *screen.Live
	stop   chan struct{} // closed by close
	done   chan struct{} // closed when nothing is drawn any more

	mu     sync.Mutex // guards what follows
	lines  []*liveLine
	frame  int
	closed bool
}

// liveLine is one line.
type liveLine struct {
	key   string
	began time.Time
	text  func(elapsed string) string
	step  *liveStep // nil for what is no step
}

// liveStep is a step of a driver that is under way.
type liveStep struct {
	run   string
	label string // its name, with that of the run where there are several
	name  string
	doing []runtime.Event // what it does inside, the latest last
	far   *runtime.Event  // how far it said that it is
	calls int
	bytes int64
}

// live returns the lines of the command; nil where standard error is no terminal, or is not to be written to.
func (a *app) live() *live {
	a.begun.Do(func() {
		s, ok := a.errOut.(*screen.Live)
		if !ok || a.quiet || a.json || a.logJSON.Load() || !s.Terminal() {
			return
		}
		a.lines = &live{a: a, screen: s, stop: make(chan struct{}), done: make(chan struct{})}
		go a.lines.draw()
	})
	return a.lines
}

// draw draws the lines until close.
func (l *live) draw() {
	defer close(l.done)
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			l.screen.Draw()
			return
		case now := <-tick.C:
			l.screen.Draw(l.text(now)...)
		}
	}
}

// text is the lines as they are now, as many as there is room for.
func (l *live) text(now time.Time) (lines []string) {
	columns, rows := l.screen.Room()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frame++
	for _, line := range l.lines {
		if took := now.Sub(line.began); took >= drawAfter {
			text := line.text(tookText(int64(took.Truncate(drawEvery))))
			lines = append(lines, screen.Cut(spinner[l.frame%len(spinner):][:1]+" "+text, columns))
		}
	}
	if more := len(lines) - rows; more > 0 {
		lines = append(lines[:rows-1], fmt.Sprintf("  and %d more", more+1))
	}
	return lines
}

// close takes the lines away, for good.
func (l *live) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	was := l.closed
	l.closed, l.lines = true, nil
	l.mu.Unlock()
	if !was {
		close(l.stop)
	}
	<-l.done
}

// begin adds a line; text says it, given how long it is there.
func (l *live) begin(key string, text func(elapsed string) string) {
	if l != nil {
		l.add(&liveLine{key: key, began: time.Now(), text: text})
	}
}

func (l *live) add(line *liveLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(slices.DeleteFunc(l.lines, func(o *liveLine) bool { return o.key == line.key }), line)
}

// end takes a line away and returns it; nil when there is none.
func (l *live) end(key string) *liveLine {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	i := slices.IndexFunc(l.lines, func(line *liveLine) bool { return line.key == key })
	if i < 0 {
		l.mu.Unlock()
		return nil
	}
	line := l.lines[i]
	l.lines = slices.Delete(l.lines, i, i+1)
	l.mu.Unlock()
	l.gone(line)
	return line
}

// gone draws the lines without one that was shown, before what stays of it is written.
func (l *live) gone(line *liveLine) {
	if time.Since(line.began) >= drawAfter {
		l.screen.Draw(l.text(time.Now())...)
	}
}

// without lets f write to standard output, which may be the same terminal: then there are no lines meanwhile.
func (l *live) without(f func()) {
	if l != nil {
		if out, ok := l.a.out.(*os.File); ok && isTerminal(out) {
			l.screen.Without(f)
			return
		}
	}
	f()
}

// stepKey names the line of the driver's step that a step belongs to.
func stepKey(run string, step journal.Step) string {
	top, _, _ := strings.Cut(string(step), "/")
	return "step " + run + " " + top
}

// observe follows what a driver does.
func (l *live) observe(ev runtime.Event) {
	if l == nil || ev.Step == "" {
		return
	}
	key, top := stepKey(ev.Run, ev.Step), ev.Step.Parent() == ""
	switch {
	case top && ev.Phase == runtime.Begun:
		s := &liveStep{run: ev.Run, label: string(ev.Step), name: toolabi.CleanLine(ev.Name, 100)}
		if l.a.several {
			s.label = ev.Run + " " + s.label
		}
		l.add(&liveLine{key: key, began: time.Now(), text: s.text, step: s})
	case top && ev.Phase == runtime.Ended:
		if line := l.end(key); line != nil {
			l.came(line, outcomeWord(ev.Err), ev.Size)
		}
	default:
		l.inside(key, ev)
	}
}

// inside notes what a step does with the host, and how far it says that it is.
func (l *live) inside(key string, ev runtime.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.lines, func(line *liveLine) bool { return line.key == key })
	if i < 0 || l.lines[i].step == nil {
		return
	}
	s := l.lines[i].step
	switch ev.Phase {
	case runtime.Begun:
		s.doing, s.calls = append(s.doing, ev), s.calls+1
	case runtime.Ended:
		s.doing = slices.DeleteFunc(s.doing, func(o runtime.Event) bool { return o.Step == ev.Step })
		s.bytes += ev.Size
	case runtime.Progressed:
		s.far = &ev
	}
}

// text is a step under way. The caller holds the lock of the lines.
func (s *liveStep) text(elapsed string) string {
	text := fmt.Sprintf("%-12s %s  %s", s.label, s.name, elapsed)
	if s.bytes > 0 {
		text += "  " + bytesText(s.bytes)
	}
	if s.far != nil {
		if s.far.Total > 0 {
			text += "  " + strings.TrimSuffix(bar(s.far.Done, s.far.Total), ", ")
		}
		text += "  " + toolabi.CleanLine(s.far.Text, 200)
	}
	if n := len(s.doing); n > 0 {
		text += "  " + toolabi.CleanLine(s.doing[n-1].Name+" "+s.doing[n-1].Text, 200)
	}
	return text
}

// came writes the line that stays of a step. Under -v there are lines for all of it already.
func (l *live) came(line *liveLine, word string, size int64) {
	if l.a.verbose {
		return
	}
	s := line.step
	words := []string{tookText(int64(time.Since(line.began)))}
	if s.calls > 0 {
		words = append(words, number(uint64(s.calls), "host call", "host calls"))
	}
	if size > 0 {
		words = append(words, bytesText(size))
	}
	l.a.say("  %-12s %-9s %s (%s)", s.label, word, s.name, strings.Join(words, ", "))
}

// left writes the lines that stay of what a run has under way that is not driven any more.
func (l *live) left(run string, err error) {
	if l == nil {
		return
	}
	var waits *runtime.WaitingError
	var doubt *runtime.UncertainError
	word := "stopped"
	switch {
	case errors.As(err, &waits):
		word = "waiting"
	case errors.As(err, &doubt):
		word = "in doubt"
	}
	l.mu.Lock()
	var open []*liveLine
	l.lines = slices.DeleteFunc(l.lines, func(line *liveLine) bool {
		mine := line.step != nil && line.step.run == run
		if mine {
			open = append(open, line)
		}
		return mine
	})
	l.mu.Unlock()
	for _, line := range open {
		l.gone(line)
		l.came(line, word, 0)
	}
}

// outcomeWord is what became of a step, in a word.
func outcomeWord(err *toolabi.Error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, toolabi.Denied):
		return "denied"
	}
	return "failed"
}
