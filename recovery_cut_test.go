package wrun_test

import (
	"errors"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// entriesIfAny is the log of a run that may not exist.
func (s *scene) entriesIfAny() []journal.Entry {
	if s.attempt == "first" {
		return nil
	}
	return s.entries(0)
}

// prepare makes the attempt that comes before the one that counts.
func (s *scene) prepare() {
	s.t.Helper()
	l := s.start()
	defer l.Close()
	switch s.attempt {
	case "after a retry":
		if how, err := l.drive(); how != "waiting" {
			s.t.Fatalf("the first attempt ended with %s (%v)", how, err)
		}
		s.advance(later)
	case "after a void":
		l.at = func(use string, _ bool) {
			if use == string(s.base.First()) {
				l.kill()
			}
		}
		if how, err := l.drive(); how != "killed" {
			s.t.Fatalf("the first attempt ended with %s (%v)", how, err)
		}
		somebody := s.start()
		defer somebody.Close()
		if err := somebody.Resolve(s.t.Context(), "r", s.base, runtime.Resolution{Now: true, By: "somebody"}); err != nil {
			s.t.Fatal(err)
		}
		if s.sender() == "keyed too late" {
			s.advance(muchLater)
		}
	}
}

// ended is how a drive ended.
type ended struct {
	how     string
	err     error
	entered map[string]int
}

// cutOff drives the run until the moment of the cell.
func (s *scene) cutOff() ended {
	s.t.Helper()
	if s.function == "sleep" || s.function == "approve" {
		if e, over := s.suspend(); over {
			return e
		}
	}
	l := s.start()
	defer l.Close()
	s.arrange(l)
	how, err := l.drive()
	return ended{how, err, l.entered}
}

// suspend drives a run that waits until it does, and lets it be answered where the moment is later than that.
func (s *scene) suspend() (e ended, over bool) {
	s.t.Helper()
	if s.denied() || s.moment == "announcing" {
		return e, false
	}
	l := s.start()
	defer l.Close()
	e.how, e.err = l.drive()
	if s.moment == "announced" || e.how != "waiting" {
		return e, true
	}
	if s.function == "sleep" {
		s.advance(later)
		return e, false
	}
	who := s.start()
	defer who.Close()
	if s.moment == "done" {
		who.instead = func(e journal.Entry) bool { return e.Kind == journal.Result }
	}
	err := who.Answer(s.t.Context(), "r", s.base, runtime.Answer{Yes: s.said != "no", By: "somebody"})
	if s.moment == "done" != errors.Is(err, journal.ErrUnusable) || s.moment != "done" && err != nil {
		s.t.Fatalf("answer: %v", err)
	}
	return e, s.moment == "done"
}

// arrange makes a life end at the moment of the cell.
func (s *scene) arrange(l *life) {
	uses := map[string]string{"log": "it", "fetch": "fetch", "nothing but itself": ""}
	use, known := uses[s.function]
	if !known {
		use = string(s.base)
	}
	// What a denied function, one that waits, or the call itself does, is in no function that can be hooked.
	hooked := use != "" && !s.denied() && s.function != "sleep" && s.function != "approve"
	itself := s.function == "nothing but itself"
	first := func(e journal.Entry) bool {
		return e.Step == s.base && (e.Kind == journal.Intent || e.Kind == journal.Result)
	}
	s.world.set(func() {
		if s.moment == "lost" {
			s.world.drop = func() {
				if s.sender() == "keyed too late" {
					s.advance(muchLater)
				}
			}
		}
		if s.said == "cannot tell" || s.said == "fails" {
			s.world.verdict = s.said
		}
	})
	switch s.moment {
	case "announcing":
		if s.function == "log" || s.function == "fetch" && hooked {
			l.at = func(u string, _ bool) {
				if u == use {
					l.kill()
				}
			}
			return
		}
		l.instead = first
	case "announced":
		l.at = func(u string, _ bool) {
			switch {
			case itself && u == "before":
				l.flushed()
			case hooked && u == use:
				l.kill()
			}
		}
	case "done":
		if s.function == "sleep" {
			l.instead = func(e journal.Entry) bool { return e.Step == s.base && e.Kind == journal.Result }
			return
		}
		l.at = func(u string, after bool) {
			switch {
			case itself && u == "before" && !after:
				if err := l.run.Flush(); err != nil {
					s.t.Error(err)
				}
			case itself && u == "after" && after, hooked && u == use && after:
				l.kill()
			}
		}
	case "recorded", "lost":
		if itself {
			l.returned = l.flushed
			return
		}
		l.at = func(u string, after bool) {
			if u == "after" && !after {
				l.flushed()
			}
		}
	case "failed":
		l.at = func(u string, after bool) {
			if hooked && u == use {
				s.world.set(func() { s.world.down = !after })
			}
		}
	case "stopped":
		l.at = func(u string, after bool) {
			if u == use {
				l.busy.Store(!after)
			}
		}
	}
}

// pass lets as much time go by before the run is resumed as the cell says.
func (s *scene) pass() {
	switch {
	case s.sender() == "keyed too late":
		s.advance(muchLater)
	case s.moment == "failed", s.said == "did not happen":
		s.advance(later)
	}
}
