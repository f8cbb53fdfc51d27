package world

import (
	"slices"
	"time"
)

// lateAct is what a route is still to do.
type lateAct struct {
	at    time.Time
	route *Route
	event Event // what is seen when it acts
}

// act does what a route does, at once or late, and replies with a status. It wants mu held.
func (l *Live) act(r *Route, e *Event, status int) {
	e.Declined = e.Declined || status/100 == 4
	switch {
	case !r.Effect:
	case r.Late > 0 && (e.Fault == LostReply || e.Fault == Hangs):
		e.Late = true
		then := *e
		then.Acted, then.Fault = true, NoFault
		l.late = append(l.late, lateAct{l.now().Add(r.Late), r, then})
	default:
		l.routes[r].acted++
		e.Acted = true
	}
}

// actLate lets act what is due. It wants mu held.
func (l *Live) actLate() {
	now := l.now()
	l.late = slices.DeleteFunc(l.late, func(a lateAct) bool {
		if now.Before(a.at) {
			return false
		}
		l.routes[a.route].acted++
		l.events = append(l.events, &a.event)
		return true
	})
}

// Late is when everything has acted that is still to act. It is zero when nothing is.
func (l *Live) Late() (last time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.actLate()
	for _, a := range l.late {
		if a.at.After(last) {
			last = a.at
		}
	}
	return last
}
