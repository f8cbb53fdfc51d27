package authority

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// Module is what is compared of a module.
type Module struct {
	Manifest *toolabi.Manifest
	// Functions and WASI are what it imports.
	Functions, WASI []string
}

// Change is one thing in which a module differs from another one.
type Change struct {
	// About says what of the module it is: "tool charge", "http_send", "limits".
	About string `json:"about"`
	// What says what has changed, as the manifest has it: who shows it cleans it.
	What string `json:"what"`
	// Wider says that the module can do more, or that less stands in its way: that it can reach, read or use something which it could
	// not, that fewer questions are asked, that something may be repeated.
	Wider bool `json:"wider,omitempty"`
}

// Compare returns in what b differs from a, in the order of the manifest: what it is, its tools, what it wants.
func Compare(a, b Module) []Change {
	c := &comparison{}
	c.differs("version", a.Manifest.Version, b.Manifest.Version, false)
	c.differs("name", a.Manifest.Name, b.Manifest.Name, false)
	c.differs("description", a.Manifest.Description, b.Manifest.Description, false)
	c.command(a.Manifest.Command, b.Manifest.Command)
	c.limits(a.Manifest.Limits, b.Manifest.Limits)
	c.tools(a.Manifest, b.Manifest)
	c.capabilities(a.Manifest, b.Manifest)
	c.list("imports", "", a.Functions, b.Functions, true)
	c.list("wasi", "", a.WASI, b.WASI, false)
	return c.found
}

// Wider says whether one of the changes is.
func Wider(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Wider })
}

type comparison struct{ found []Change }

func (c *comparison) add(about string, wider bool, format string, args ...any) {
	c.found = append(c.found, Change{About: about, What: fmt.Sprintf(format, args...), Wider: wider})
}

// differs adds a change of one value.
func (c *comparison) differs(about, a, b string, wider bool) {
	if a != b {
		c.add(about, wider, "%s, was %s", orNothing(b), orNothing(a))
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// list adds what was added to a list and what was taken from it. wider says that more in it is more that can be done.
func (c *comparison) list(about, what string, a, b []string, wider bool) {
	for _, s := range b {
		if !slices.Contains(a, s) {
			c.add(about, wider, "added: %s%s", what, s)
		}
	}
	for _, s := range a {
		if !slices.Contains(b, s) {
			c.add(about, false, "removed: %s%s", what, s)
		}
	}
}

func (c *comparison) limits(a, b toolabi.Limits) {
	for _, l := range []struct {
		name string
		a, b uint64
		show func(uint64) string
	}{
		{"timeout", a.TimeoutMS, b.TimeoutMS, milliseconds}, {"memory", a.MemoryBytes, b.MemoryBytes, plain},
		{"output", a.OutputBytes, b.OutputBytes, plain}, {"fuel", a.Fuel, b.Fuel, plain},
	} {
		if l.a != l.b {
			wider := l.b == 0 || l.a != 0 && l.b > l.a
			c.add("limits", wider, "%s %s, was %s", l.name, l.show(l.b), l.show(l.a))
		}
	}
}

func plain(n uint64) string {
	if n == 0 {
		return "not named"
	}
	return fmt.Sprint(n)
}

func milliseconds(n uint64) string {
	if n == 0 {
		return "not named"
	}
	return (time.Duration(n) * time.Millisecond).String()
}

func (c *comparison) command(a, b *toolabi.Command) {
	switch {
	case a == nil && b == nil:
		return
	case a == nil:
		c.add("mode", true, "a program of WASI, was a module with host functions")
		a = &toolabi.Command{}
	case b == nil:
		c.add("mode", true, "a module with host functions, was a program of WASI")
		b = &toolabi.Command{}
	}
	c.differs("arguments", strings.Join(a.Args, " "), strings.Join(b.Args, " "), false)
	for _, d := range b.Dirs {
		i := slices.IndexFunc(a.Dirs, func(have toolabi.Dir) bool { return have.Name == d.Name })
		switch {
		case i < 0:
			c.add("directory "+d.Name, true, "added: %s, %s: %s", d.Path, dirUse(d), d.Reason)
		case a.Dirs[i].Write != d.Write:
			c.add("directory "+d.Name, d.Write, "%s, was %s", dirUse(d), dirUse(a.Dirs[i]))
		case a.Dirs[i] != d:
			c.add("directory "+d.Name, false, "at %s, %s; was at %s, %s", d.Path, d.Reason, a.Dirs[i].Path, a.Dirs[i].Reason)
		}
	}
	for _, d := range a.Dirs {
		if !slices.ContainsFunc(b.Dirs, func(have toolabi.Dir) bool { return have.Name == d.Name }) {
			c.add("directory "+d.Name, false, "removed")
		}
	}
}

func dirUse(d toolabi.Dir) string {
	if d.Write {
		return "to read and change"
	}
	return "to read"
}
