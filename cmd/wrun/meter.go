package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

// meter returns what shows people how far something is: told wants to know often, and done takes away what is shown, so that
// something else can be written; more may be told afterwards. On a terminal it is one line, written again and again once a second has
// passed; elsewhere a line after ten seconds, and another each time that it has taken twice as long. With --json, --quiet or --log-format json there is none.
// Neither function may be called concurrently.
func meter[T any](a *app, text func(T) string) (told func(T), done func()) {
	if a.quiet || a.json || a.logJSON.Load() {
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

// copied says how far a copy is. whole is how long the bundle is that is read, 0 where none is or that is not known.
func copied(what string, whole int64) func(boltdb.Progress) string {
	return func(p boltdb.Progress) string {
		text := what + ": "
		switch {
		case whole > 0:
			text += bar(p.Bytes, whole)
		case p.OfBlobs > 0:
			text += bar(p.Blobs, p.OfBlobs)
		case p.OfEntries > 0:
			text += bar(p.Entries, p.OfEntries)
		}
		text += number(p.Entries, "entry", "entries") + ", " + bytesText(p.Bytes)
		if p.Blobs > 0 {
			text += ", " + number(p.Blobs, "blob", "blobs")
		}
		return text
	}
}

// bar draws how much of something is done, and says it in percent. What came meanwhile can make it more than there was.
func bar[N int64 | uint64](done, of N) string {
	const width = 20
	part := min(float64(done)/float64(of), 1)
	full := int(part * width)
	return fmt.Sprintf("[%s%s] %3.0f %%, ", strings.Repeat("#", full), strings.Repeat(" ", width-full), 100*part)
}

// lengthOf is how long a file is, 0 where that is not known.
func lengthOf(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}
