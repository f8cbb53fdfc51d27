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
// something else can be written; more may be told afterwards. On a terminal it is one line, drawn again and again once a second has
// passed; elsewhere a line after ten seconds, and another each time that it has taken twice as long. With --json, --quiet or --log-format json there is none.
// Neither function may be called concurrently.
func meter[T any](a *app, text func(T) string) (told func(T), done func()) {
	if a.quiet || a.json || a.logJSON.Load() {
		return nil, func() {}
	}
	began := time.Now()
	l := a.live()
	if l == nil {
		next := 10 * time.Second
		return func(n T) {
			if took := time.Since(began); took >= next {
				a.say("%s", text(n))
				next = 2 * took
			}
		}, func() {}
	}
	const key = "meter"
	next := began.Add(time.Second)
	return func(n T) {
		if now := time.Now(); now.After(next) {
			next = now.Add(drawEvery)
			far := text(n)
			l.add(&liveLine{key: key, began: began, text: func(elapsed string) string { return far + ", " + elapsed }})
		}
	}, func() { l.end(key) }
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
