package screen

import (
	"cmp"
	"slices"
	"strings"
)

// Span is a piece of time, in any unit.
type Span struct{ From, To int64 }

// Within are the parts of a span that lie in others, which are in order and do not overlap.
func Within(s Span, of []Span) (parts []Span) {
	for _, o := range of {
		if part := (Span{max(s.From, o.From), min(s.To, o.To)}); part.From <= part.To {
			parts = append(parts, part)
		}
	}
	return parts
}

// Without are spans without those that are taken out of them, in any order.
func Without(spans, out []Span) (parts []Span) {
	parts = spans
	for _, o := range out {
		var left []Span
		for _, s := range parts {
			if o.To <= s.From || o.From >= s.To {
				left = append(left, s)
				continue
			}
			if s.From < o.From {
				left = append(left, Span{s.From, o.From})
			}
			if o.To < s.To {
				left = append(left, Span{o.To, s.To})
			}
		}
		parts = left
	}
	return parts
}

// Axis draws when something was, on lines of one width. Where nothing happened for longer than something did, that is shortened, so
// that hours of waiting do not leave milliseconds of work without a column.
type Axis struct {
	columns int
	pieces  []piece
	length  float64
	// Left is how much time is left out by what was shortened, 0 where everything has the room that it took.
	Left int64
}

// piece is a part of the axis: from a time on, where it begins on the axis, and how much of the axis a unit of time takes.
type piece struct {
	from  int64
	at    float64
	scale float64
}

// NewAxis returns the axis of a time in so many columns. busy says when something happened; it may overlap, and is in any order.
func NewAxis(all Span, busy []Span, columns int) *Axis {
	a := &Axis{columns: max(columns, 1)}
	busy = merged(all, busy)
	var worked, idle int64
	pauses := 0
	at := all.From
	for _, b := range append(busy, Span{all.To, all.To}) {
		if b.From > at {
			idle, pauses = idle+b.From-at, pauses+1
		}
		worked, at = worked+b.To-b.From, max(at, b.To)
	}
	most := float64(all.To - all.From) // of a pause
	if idle > 3*worked && worked > 0 {
		most = max(float64(worked)/2/float64(pauses), 1)
	}
	at = all.From
	for _, b := range append(busy, Span{all.To, all.To}) {
		a.add(at, b.From, most)
		a.add(b.From, b.To, float64(b.To-b.From))
		at = max(at, b.To)
	}
	return a
}

// merged are the spans within all, in order, without overlap.
func merged(all Span, spans []Span) (out []Span) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(x, y Span) int { return cmp.Compare(x.From, y.From) })
	for _, s := range spans {
		s.From, s.To = max(s.From, all.From), min(s.To, all.To)
		switch n := len(out); {
		case s.To < s.From:
		case n > 0 && s.From <= out[n-1].To:
			out[n-1].To = max(out[n-1].To, s.To)
		default:
			out = append(out, s)
		}
	}
	return out
}

// add appends a piece of time, of which at most so much is shown.
func (a *Axis) add(from, to int64, most float64) {
	if to <= from {
		return
	}
	took := float64(to - from)
	shown := min(took, most)
	a.Left += int64(took - shown)
	a.pieces = append(a.pieces, piece{from, a.length, shown / took})
	a.length += shown
}

// column is where a time is.
func (a *Axis) column(t int64) int {
	at := 0.0
	for _, p := range a.pieces {
		if t >= p.from {
			at = p.at + float64(t-p.from)*p.scale
		}
	}
	if a.length == 0 {
		return 0
	}
	return min(max(int(at/a.length*float64(a.columns)), 0), a.columns)
}

// Line is a line on which nothing is marked yet: dots.
func (a *Axis) Line() []byte { return []byte(strings.Repeat(".", a.columns)) }

// Mark marks on a line when something was, in one column at least.
func (a *Axis) Mark(line []byte, s Span, mark byte) {
	from := min(a.column(s.From), a.columns-1)
	for i := from; i < max(a.column(s.To), from+1); i++ {
		line[i] = mark
	}
}
