package main

import (
	"fmt"
	"os"
	"time"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

// meter returns what shows people how far something is: told wants to know often, and done takes away what is shown, so that
// something else can be written; more may be told afterwards. On a terminal it is one line, written again and again once a second has
// passed; elsewhere a line after ten seconds, and another each time that it has taken twice as long. With --json or --quiet there is none.
// Neither function may be called concurrently.
func meter[T any](a *app, text func(T) string) (told func(T), done func()) {
	if a.quiet || a.json {
		return nil, func() {}
	}
	began := time.Now()
	if f, ok := a.errOut.(*os.File); !ok || !isTerminal(f) {
		next := 10 * time.Second
		return func(n T) {
			if took := time.Since(began); took >= next {
				a.say("%s", text(n))
				next = 2 * took
			}
		}, func() {}
	}
	next, shown := began.Add(time.Second), false
	return func(n T) {
			if now := time.Now(); now.After(next) {
				next, shown = now.Add(250*time.Millisecond), true
				a.saying.Lock()
				defer a.saying.Unlock()
				fmt.Fprintf(a.errOut, "\r%s\x1b[K", text(n))
			}
		}, func() {
			if shown {
				shown = false
				a.saying.Lock()
				defer a.saying.Unlock()
				fmt.Fprint(a.errOut, "\r\x1b[K")
			}
		}
}

// copied says how far a copy is.
func copied(what string) func(boltdb.Progress) string {
	return func(p boltdb.Progress) string {
		text := what + ": " + number(p.Entries, "entry", "entries") + ", " + bytesText(p.Bytes)
		if p.Blobs > 0 {
			text += ", " + number(p.Blobs, "blob", "blobs")
		}
		return text
	}
}
