package authority

import (
	"bytes"
	"slices"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func (c *comparison) tools(a, b *toolabi.Manifest) {
	for _, t := range b.Tools {
		if was, ok := a.Tool(t.Name); ok {
			c.tool(was, t)
		} else {
			c.add("tool "+t.Name, true, "added (%s)", t.Declared())
		}
	}
	for _, t := range a.Tools {
		if _, ok := b.Tool(t.Name); !ok {
			c.add("tool "+t.Name, false, "removed")
		}
	}
}

func (c *comparison) tool(a, b toolabi.Tool) {
	about := "tool " + b.Name
	if a.Declared() != b.Declared() {
		c.add(about, reach(b.Declared()) > reach(a.Declared()) || repeats(b.Declared()) > repeats(a.Declared()), "%s, was %s", b.Declared(), a.Declared())
	}
	switch {
	case a.Approval && !b.Approval:
		c.add(about, true, "nobody has to agree any more")
	case b.Approval && !a.Approval:
		c.add(about, false, "a person has to agree")
	}
	switch {
	case a.Destructive && !b.Destructive:
		c.add(about, true, "no longer said to be without a way back: rules about that do not hold for it")
	case b.Destructive && !a.Destructive:
		c.add(about, true, "cannot be undone")
	}
	c.time(about, "keys are remembered for", a.KeyTTLMS, b.KeyTTLMS, b.KeyTTLMS > a.KeyTTLMS)
	c.time(about, "requests are on their way for at most", a.SettleMS, b.SettleMS, b.SettleMS < a.SettleMS)
	c.time(about, "timeout", a.TimeoutMS, b.TimeoutMS, b.TimeoutMS == 0 || a.TimeoutMS != 0 && b.TimeoutMS > a.TimeoutMS)
	if a.Retry != b.Retry {
		c.add(about, b.Retry.Attempts > max(1, a.Retry.Attempts), "up to %d attempts, was %d", max(1, b.Retry.Attempts), max(1, a.Retry.Attempts))
	}
	c.differs(about+", looked up with", a.Lookup, b.Lookup, false)
	c.differs(about+", undone with", a.Compensate, b.Compensate, false)
	c.differs(about+", description", a.Description, b.Description, false)
	if !bytes.Equal(a.Input, b.Input) {
		c.add(about, false, "another schema of its input")
	}
	if !bytes.Equal(a.Output, b.Output) {
		c.add(about, false, "another schema of its output")
	}
}

func (c *comparison) time(about, what string, a, b uint64, wider bool) {
	if a != b {
		c.add(about, wider, "%s %s, was %s", what, milliseconds(b), milliseconds(a))
	}
}

// reach is how much a tool that declares i may import.
func reach(i toolabi.Idempotency) int {
	switch i {
	case toolabi.Pure:
		return 0
	case toolabi.ReadOnly:
		return 1
	}
	return 2
}

// repeats is how far a tool that declares i lets itself be repeated.
func repeats(i toolabi.Idempotency) int {
	switch i {
	case toolabi.Idempotent:
		return 2
	case toolabi.Keyed:
		return 1
	}
	return 0 // what only reads is repeated, and nothing comes of it
}

func (c *comparison) capabilities(a, b *toolabi.Manifest) {
	for _, want := range b.Capabilities {
		i := slices.IndexFunc(a.Capabilities, func(have toolabi.Capability) bool { return have.Name == want.Name })
		if i < 0 {
			c.add(want.Name, true, "added: %s", want.Reason)
			for _, t := range want.Targets {
				c.add(want.Name, true, "added: %s", TargetWords(want.Name, t))
			}
			c.list(want.Name, "secret ", nil, want.Secrets, true)
			continue
		}
		c.capability(a.Capabilities[i], want)
	}
	for _, had := range a.Capabilities {
		if !slices.ContainsFunc(b.Capabilities, func(have toolabi.Capability) bool { return have.Name == had.Name }) {
			c.add(had.Name, false, "removed")
		}
	}
}

func (c *comparison) capability(a, b toolabi.Capability) {
	switch {
	case len(a.Targets) > 0 && len(b.Targets) == 0:
		c.add(b.Name, true, "whatever is granted, was %d targets", len(a.Targets))
	case len(a.Targets) == 0 && len(b.Targets) > 0:
		c.add(b.Name, false, "%d targets, was whatever is granted", len(b.Targets))
	}
	for _, t := range b.Targets {
		if !slices.Contains(a.Targets, t) {
			c.add(b.Name, len(a.Targets) > 0 && !within(a, t), "added: %s", TargetWords(b.Name, t))
		}
	}
	for _, t := range a.Targets {
		if !slices.Contains(b.Targets, t) {
			c.add(b.Name, false, "removed: %s", TargetWords(b.Name, t))
		}
	}
	c.list(b.Name, "secret ", a.Secrets, b.Secrets, true)
	c.differs(b.Name+", reason", a.Reason, b.Reason, false)
}

// within says whether a target of HTTP is less than one that the capability had.
func within(c toolabi.Capability, target string) bool {
	if c.Name != toolabi.FuncHTTPFetch && c.Name != toolabi.FuncHTTPSend {
		return false
	}
	t, err := hostfuncs.ParseHTTPGrant(target)
	return err == nil && covered(c.Targets, t)
}
