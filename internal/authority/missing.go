package authority

import (
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// Need is something that a module asks for and was not granted.
type Need struct {
	// What says what it is, such as "secret stripe" or "to reach https://api.example.com".
	What string
	// Flag would grant it: its name without hyphens, and its value, in which capitals stand for what only an operator knows; "" for
	// a flag that needs none.
	Flag, Value string
	// Reason is the author's, as it is in the manifest: who shows it cleans it.
	Reason string
}

// Missing returns what a manifest asks for and g does not grant, in the order of the flags.
func Missing(m *toolabi.Manifest, g hostfuncs.Grants) []Need {
	n := &needs{manifest: m, grants: g}
	n.http()
	n.secrets()
	n.config()
	n.stores()
	n.artifacts()
	n.workspace()
	n.mail()
	n.dirs()
	return n.found
}

type needs struct {
	manifest *toolabi.Manifest
	grants   hostfuncs.Grants
	found    []Need
}

func (n *needs) add(reason, flag, value, what string, args ...any) {
	for _, have := range n.found {
		if have.Flag == flag && have.Value == value {
			return
		}
	}
	n.found = append(n.found, Need{What: fmt.Sprintf(what, args...), Flag: flag, Value: value, Reason: reason})
}

func (n *needs) http() {
	for _, c := range asked(n.manifest, httpFuncs) {
		if len(c.Targets) == 0 && len(n.grants.HTTP) == 0 {
			n.add(c.Reason, "allow-http", "ORIGIN", "to reach servers that you name")
		}
		for _, t := range targets(c) {
			if covered(n.grants.HTTP, t) {
				continue
			}
			what := "to reach " + t.String()
			if kind := t.Kind(); kind != "" {
				what += " (" + kind + ")"
			}
			n.add(c.Reason, "allow-http", t.String(), "%s", what)
		}
	}
}

func covered(grants []string, t hostfuncs.HTTPGrant) bool {
	return slices.ContainsFunc(grants, func(s string) bool {
		g, err := hostfuncs.ParseHTTPGrant(s)
		return err == nil && g.Covers(t)
	})
}

func (n *needs) secrets() {
	for _, c := range n.manifest.Capabilities {
		names := c.Secrets
		if c.Name == toolabi.FuncSecretHas {
			names = c.Targets
		}
		for _, name := range names {
			if _, ok := n.grants.Secret(name); !ok {
				n.add(c.Reason, "secret", name+"=SOURCE@"+n.origin(), "secret %s", name)
			}
		}
	}
}

// origin is where a secret of the module is likely to be sent.
func (n *needs) origin() string {
	for _, c := range asked(n.manifest, httpFuncs) {
		for _, t := range targets(c) {
			return t.Origin
		}
	}
	return "ORIGIN"
}

func (n *needs) config() {
	for _, c := range asked(n.manifest, []string{toolabi.FuncConfigGet}) {
		for _, key := range c.Targets {
			if _, ok := n.grants.Setting(n.manifest.Name, key); !ok {
				n.add(c.Reason, "set", n.manifest.Name+"."+key+"=VALUE", "setting %s", key)
			}
		}
		if len(c.Targets) == 0 && !slices.ContainsFunc(n.grants.Config, func(s hostfuncs.ConfigGrant) bool { return s.Module == n.manifest.Name }) {
			n.add(c.Reason, "set", n.manifest.Name+".KEY=VALUE", "settings")
		}
	}
}

func (n *needs) stores() {
	for _, k := range stores(n.manifest) {
		i := slices.IndexFunc(n.grants.KV, func(have hostfuncs.KVGrant) bool { return have.Store == k.Store })
		if i >= 0 && (n.grants.KV[i].Write || !k.Write) {
			continue
		}
		what := "store " + k.Store
		if i >= 0 {
			what = "to write to " + what
		}
		n.add(n.reason(kvFuncs), "allow-kv", k.String(), "%s", what)
	}
}

func (n *needs) artifacts() {
	if n.grants.Artifacts == 0 && asksAny(n.manifest, artifactFuncs) {
		n.add(n.reason(artifactFuncs), "allow-artifacts", "", "artifacts")
	}
}

func (n *needs) workspace() {
	write := asksAny(n.manifest, workspaceWrite)
	switch w := n.grants.Workspace; {
	case !asksAny(n.manifest, workspaceFuncs) || w.Path != "" && (w.Write || !write):
	case w.Path != "":
		n.add(n.reason(workspaceWrite), "workspace", w.Path, "to write to the workspace")
	case write:
		n.add(n.reason(workspaceFuncs), "workspace", "DIR", "a workspace to write to")
	default:
		n.add(n.reason(workspaceFuncs), "workspace", "DIR:ro", "a workspace to read")
	}
}

func (n *needs) mail() {
	for _, c := range asked(n.manifest, []string{toolabi.FuncMailSend}) {
		mail := n.grants.Mail
		if mail.Server == "" {
			n.add(c.Reason, "mail", "SERVER,from=ADDRESS", "a mail server")
		}
		if _, ok := n.grants.Secret(mail.Secret); mail.Secret != "" && !ok {
			n.add(c.Reason, "secret", mail.Secret+"=SOURCE@"+mail.Server, "secret %s, for the mail server", mail.Secret)
		}
		for _, t := range c.Targets {
			if !hostfuncs.MailCovers(mail.To, t) {
				n.add(c.Reason, "mail-to", t, "mail to %s", toolabi.CleanLine(t, 300))
			}
		}
		if len(c.Targets) == 0 && len(mail.To) == 0 {
			n.add(c.Reason, "mail-to", "ADDRESS", "mail to people that you name")
		}
	}
}

func (n *needs) dirs() {
	if n.manifest.Command == nil {
		return
	}
	for _, want := range n.manifest.Command.Dirs {
		d, ok := n.grants.Dir(want.Name)
		switch {
		case !ok && want.Write:
			n.add(want.Reason, "dir", want.Name+"=PATH:rw", "directory %s, to change it", want.Name)
		case !ok:
			n.add(want.Reason, "dir", want.Name+"=PATH", "directory %s", want.Name)
		case want.Write && !d.Write:
			n.add(want.Reason, "dir", want.Name+"="+d.Path+":rw", "to write to directory %s", want.Name)
		}
	}
}

// reason is that of the first of these functions that the manifest asks for.
func (n *needs) reason(functions []string) string {
	if found := asked(n.manifest, functions); len(found) > 0 {
		return found[0].Reason
	}
	return ""
}
