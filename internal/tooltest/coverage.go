package tooltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/toolabi"
)

// Coverage is what the cases use of what a manifest declares.
type Coverage struct {
	// Unused are capabilities, their targets and secrets that no case uses.
	Unused []string `json:"unused,omitempty"`
	// Undeclared is what a tool wanted to use and its manifest does not name.
	Undeclared []string `json:"undeclared,omitempty"`
	// Untested are tools without a case.
	Untested []string `json:"untested,omitempty"`
}

// Cover holds what cases used against a manifest.
func Cover(m *toolabi.Manifest, results []Result) (c Coverage) {
	var uses []Use
	tested := map[string]bool{}
	for _, r := range results {
		uses = append(uses, r.uses...)
		tested[r.Tool] = true
	}
	for _, t := range m.Tools {
		if !tested[t.Name] {
			c.Untested = append(c.Untested, t.Name)
		}
	}
	for _, want := range m.Capabilities {
		c.cover(want, slices.DeleteFunc(slices.Clone(uses), func(u Use) bool { return u.Function != want.Name }))
	}
	return c
}

// cover holds the uses of one function against what is declared of it.
func (c *Coverage) cover(want toolabi.Capability, uses []Use) {
	if len(uses) == 0 {
		c.Unused = append(c.Unused, want.Name)
		return
	}
	for _, target := range want.Targets {
		if !slices.ContainsFunc(uses, func(u Use) bool { return reaches(want.Name, target, u) }) {
			c.Unused = append(c.Unused, want.Name+": "+authority.TargetWords(want.Name, target))
		}
	}
	for _, name := range want.Secrets {
		if !slices.ContainsFunc(uses, func(u Use) bool { return slices.Contains(u.Secrets, name) }) {
			c.Unused = append(c.Unused, want.Name+": secret "+name)
		}
	}
	for _, u := range uses {
		if len(want.Targets) > 0 && u.Target != "" && !slices.ContainsFunc(want.Targets, func(t string) bool { return reaches(want.Name, t, u) }) {
			c.undeclared(want.Name + ": " + authority.TargetWords(want.Name, u.Target))
		}
		for _, name := range u.Secrets {
			if !slices.Contains(want.Secrets, name) {
				c.undeclared(fmt.Sprintf("%s: secret %s", want.Name, name))
			}
		}
	}
}

func (c *Coverage) undeclared(text string) {
	if !slices.Contains(c.Undeclared, text) {
		c.Undeclared = append(c.Undeclared, text)
	}
}

// reaches says whether a use is one of what a target stands for.
func reaches(function, target string, u Use) bool {
	switch function {
	case toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend:
		g, err := hostfuncs.ParseHTTPGrant(target)
		asked, wrong := hostfuncs.ParseHTTPGrant(u.Target)
		return err == nil && wrong == nil && g.Covers(asked)
	case toolabi.FuncToolCall:
		return toolabi.ToolAmong(u.Target, []string{target})
	case toolabi.FuncMailSend:
		return slices.ContainsFunc(strings.Split(u.Target, ","), func(to string) bool { return hostfuncs.MailCovers([]string{target}, to) })
	}
	return u.Target == target
}
