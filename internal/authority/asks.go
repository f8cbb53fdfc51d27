package authority

import (
	"slices"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// The functions that belong together.
var (
	httpFuncs      = []string{toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend}
	kvFuncs        = []string{toolabi.FuncKVGet, toolabi.FuncKVPut, toolabi.FuncKVCAS, toolabi.FuncKVDelete, toolabi.FuncKVList}
	kvWriters      = []string{toolabi.FuncKVPut, toolabi.FuncKVCAS, toolabi.FuncKVDelete}
	artifactFuncs  = []string{toolabi.FuncArtifactPut, toolabi.FuncArtifactGet, toolabi.FuncArtifactStat}
	workspaceFuncs = []string{toolabi.FuncWorkspaceRead, toolabi.FuncWorkspaceWrite, toolabi.FuncWorkspaceList, toolabi.FuncWorkspaceRemove}
	workspaceWrite = []string{toolabi.FuncWorkspaceWrite, toolabi.FuncWorkspaceRemove}
)

// asked returns the capabilities of a manifest that are among these functions.
func asked(m *toolabi.Manifest, functions []string) (found []toolabi.Capability) {
	for _, c := range m.Capabilities {
		if slices.Contains(functions, c.Name) {
			found = append(found, c)
		}
	}
	return found
}

// asksAny says whether a manifest asks for one of these functions.
func asksAny(m *toolabi.Manifest, functions []string) bool { return len(asked(m, functions)) > 0 }

// anything says that one of the capabilities names no targets: it wants whatever is granted.
func anything(caps []toolabi.Capability) bool {
	return slices.ContainsFunc(caps, func(c toolabi.Capability) bool { return len(c.Targets) == 0 })
}

// targets returns the targets of an HTTP capability, each with the methods that the function has. What is no target was refused
// before.
func targets(c toolabi.Capability) (wanted []hostfuncs.HTTPGrant) {
	for _, t := range c.Targets {
		g, err := hostfuncs.ParseHTTPGrant(t)
		if err != nil {
			continue
		}
		if c.Name == toolabi.FuncHTTPFetch {
			if g.Methods = only(g.Methods, "GET", "HEAD"); len(g.Methods) == 0 {
				g.Methods = []string{"GET", "HEAD"}
			}
		}
		wanted = append(wanted, g)
	}
	return wanted
}

func only(methods []string, these ...string) (kept []string) {
	for _, m := range methods {
		if slices.Contains(these, m) {
			kept = append(kept, m)
		}
	}
	return kept
}

// TargetWords says what a target of a function is.
func TargetWords(function, target string) string {
	what := "to reach"
	switch {
	case function == toolabi.FuncToolCall:
		what = "to call"
	case function == toolabi.FuncSecretHas:
		what = "secret"
	case function == toolabi.FuncConfigGet:
		what = "setting"
	case function == toolabi.FuncMailSend:
		what = "to write to"
	case slices.Contains(kvFuncs, function):
		what = "store"
	}
	return what + " " + target
}

// stores returns the stores that a manifest asks for by name, its own where it names none, each with whether it would change it.
func stores(m *toolabi.Manifest) (wanted []hostfuncs.KVGrant) {
	for _, c := range asked(m, kvFuncs) {
		names, write := c.Targets, slices.Contains(kvWriters, c.Name)
		if len(names) == 0 {
			names = []string{m.Name}
		}
		for _, name := range names {
			i := slices.IndexFunc(wanted, func(k hostfuncs.KVGrant) bool { return k.Store == name })
			if i < 0 {
				wanted, i = append(wanted, hostfuncs.KVGrant{Store: name}), len(wanted)
			}
			wanted[i].Write = wanted[i].Write || write
		}
	}
	return wanted
}

// Secrets returns the names of the secrets that a manifest asks for, each once, in its order.
func Secrets(m *toolabi.Manifest) (names []string) {
	add := func(more []string) {
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, c := range m.Capabilities {
		add(c.Secrets)
		if c.Name == toolabi.FuncSecretHas {
			add(c.Targets)
		}
	}
	return names
}

// Offered returns what a manifest determines by itself: its targets of HTTP, its own store, and artifacts. An address that is not
// public is nothing that a manifest can ask an operator for in passing, so that it is left out.
func Offered(m *toolabi.Manifest) (g hostfuncs.Grants) {
	for _, c := range asked(m, httpFuncs) {
		for _, t := range targets(c) {
			if s := t.String(); t.Kind() == "" && !slices.Contains(g.HTTP, s) {
				g.HTTP = append(g.HTTP, s)
			}
		}
	}
	for _, k := range stores(m) {
		if k.Store == m.Name {
			g.KV = append(g.KV, k)
		}
	}
	if asksAny(m, artifactFuncs) {
		g.Artifacts = hostfuncs.DefaultArtifacts
	}
	return g
}
