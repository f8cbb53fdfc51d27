package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/wrun-dev/wrun/internal/screen"
)

// isTerminal says whether somebody sits there. Not every device of characters is a terminal: /dev/null is none.
func isTerminal(f *os.File) bool { return screen.IsTerminal(f) }

// columns is how wide the tables are that are written to standard output: what COLUMNS says, else the terminal, else 80.
func (a *app) columns() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return min(max(n, screen.MinColumns), screen.MaxColumns)
	}
	if f, ok := a.out.(*os.File); ok {
		n, _, _ := screen.Size(f)
		return n
	}
	return screen.DefaultColumns
}

// shows says whether standard error is a terminal, before which somebody sits.
func (a *app) shows() bool {
	switch w := a.errOut.(type) {
	case *os.File:
		return isTerminal(w)
	case *screen.Live:
		return w.Terminal()
	}
	return false
}

// paint is the colours of standard output.
func (a *app) paint() screen.Paint {
	f, ok := a.out.(*os.File)
	return screen.When(a.colour).Colours(ok && isTerminal(f), os.Getenv("NO_COLOR") != "", os.Getenv("TERM"))
}

// colour is a flag that says when colours are written.
type colour screen.When

// String returns the word.
func (c *colour) String() string { return string(*c) }

// Set implements pflag.Value.
func (c *colour) Set(text string) error {
	switch w := screen.When(text); w {
	case screen.Auto, screen.Always, screen.Never:
		*c = colour(w)
		return nil
	}
	return fmt.Errorf("want auto, always or never, not %.40q", text)
}

// Type implements pflag.Value: what stands for the value in help.
func (c *colour) Type() string { return "WHEN" }
