package authority

import (
	"slices"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// Usable divides grants into those that a module with this manifest could use at all, and those that it does not ask for.
func Usable(m *toolabi.Manifest, g hostfuncs.Grants) (usable, useless hostfuncs.Grants) {
	u, l := &usable, &useless
	web := asked(m, httpFuncs)
	for _, s := range g.HTTP {
		put(&u.HTTP, &l.HTTP, s, reaches(web, s))
	}
	mails := asksAny(m, []string{toolabi.FuncMailSend})
	for _, s := range g.Nets {
		put(&u.Nets, &l.Nets, s, len(web) > 0 || mails)
	}
	names, every := Secrets(m), anything(asked(m, []string{toolabi.FuncSecretHas}))
	for _, s := range g.Secrets {
		put(&u.Secrets, &l.Secrets, s, every || slices.Contains(names, s.Name) || mails && s.Name == g.Mail.Secret)
	}
	settings := asked(m, []string{toolabi.FuncConfigGet})
	for _, c := range g.Config {
		put(&u.Config, &l.Config, c, c.Module == m.Name && namesTarget(settings, c.Key))
	}
	kv := asked(m, kvFuncs)
	for _, k := range g.KV {
		put(&u.KV, &l.KV, k, namesTarget(kv, k.Store))
	}
	if files := append(artifactFuncs[:len(artifactFuncs):len(artifactFuncs)], workspaceFuncs...); len(web) > 0 || mails || asksAny(m, files) {
		u.Artifacts = g.Artifacts
	} else {
		l.Artifacts = g.Artifacts
	}
	if asksAny(m, workspaceFuncs) {
		u.Workspace = g.Workspace
	} else {
		l.Workspace = g.Workspace
	}
	if mails {
		u.Mail = g.Mail
	} else {
		l.Mail = g.Mail
	}
	for _, d := range g.Dirs {
		put(&u.Dirs, &l.Dirs, d, m.Command != nil && slices.ContainsFunc(m.Command.Dirs, func(want toolabi.Dir) bool { return want.Name == d.Name }))
	}
	return usable, useless
}

func put[T any](yes, no *[]T, v T, is bool) {
	if !is {
		yes = no
	}
	*yes = append(*yes, v)
}

// namesTarget says whether one of the capabilities is for a target, or for whatever is granted.
func namesTarget(caps []toolabi.Capability, target string) bool {
	return anything(caps) || slices.ContainsFunc(caps, func(c toolabi.Capability) bool { return slices.Contains(c.Targets, target) })
}

// reaches says whether a grant allows something of what the capabilities want.
func reaches(caps []toolabi.Capability, grant string) bool {
	if anything(caps) {
		return true
	}
	g, err := hostfuncs.ParseHTTPGrant(grant)
	if err != nil {
		return false
	}
	for _, c := range caps {
		for _, t := range targets(c) {
			if meet(g, t) {
				return true
			}
		}
	}
	return false
}

// meet says whether there is a request that both allow.
func meet(a, b hostfuncs.HTTPGrant) bool {
	methods := len(a.Methods) == 0 || len(b.Methods) == 0 || slices.ContainsFunc(a.Methods, func(m string) bool { return slices.Contains(b.Methods, m) })
	a.Methods, b.Methods = nil, nil
	return methods && (a.Covers(b) || b.Covers(a))
}
