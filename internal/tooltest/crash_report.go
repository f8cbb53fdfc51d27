package tooltest

import "fmt"

// Kept says that the tool keeps what it declares, as far as was tested.
func (r *CrashReport) Kept() bool { return len(r.Lies) == 0 }

// Summary says in two lines how much was tested and what was counted.
func (r *CrashReport) Summary() string {
	some, seed := "", ""
	if r.Moments < r.Of {
		some, seed = fmt.Sprintf(" of %d", r.Of), fmt.Sprintf("; seed %d", r.Seed)
	}
	return fmt.Sprintf("%d%s moments, %d effects, %d repeated, %d lost\n%d uncertain, %d settled by look-up, %d by the test%s",
		r.Moments, some, r.Effects, r.Repeated, r.Lost, r.Uncertain, r.ByLookup, r.ByHarness, seed)
}

// lineWidth is how wide a line is, in characters.
const lineWidth = 80

// Text is the lie as people read it: what is promised and how it is broken, where it shows, and the two traces beside each other.
func (l *Lie) Text() []string {
	where := l.Moment
	if l.Step != "" {
		where += ", at step " + l.Step
	}
	if l.Moments > 1 {
		where += fmt.Sprintf("; %d moments show it", l.Moments)
	}
	text := append(fold(fmt.Sprintf("promise %q broken (%s): %s", l.Promise, l.Kind, l.What), lineWidth), fold("shown when "+where, lineWidth)...)
	return append(text, Beside(l.Left, l.Right, l.Baseline, l.After)...)
}
