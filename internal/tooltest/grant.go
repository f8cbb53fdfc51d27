package tooltest

import (
	"maps"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// The mail server that is granted where a case grants none, and its sender.
const (
	mailServer = "smtps://mail.example.test:465"
	mailSender = "tool@example.test"
)

// grant is what the case lets the module do: what it says, or else what the manifest asks for, and whatever its world has.
func (s *Stage) grant(explicit *toolcase.Grants) hostfuncs.Grants {
	g := s.wanted()
	if explicit != nil {
		g = explicit.Grants
	}
	g.HTTP, g.KV, g.Secrets = slices.Clone(g.HTTP), slices.Clone(g.KV), slices.Clone(g.Secrets)
	for _, name := range slices.Sorted(maps.Keys(s.world.KV)) {
		if !slices.ContainsFunc(g.KV, func(k hostfuncs.KVGrant) bool { return k.Store == name }) {
			g.KV = append(g.KV, hostfuncs.KVGrant{Store: name, Write: true})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.world.Config)) {
		g.Config = append(g.Config, hostfuncs.ConfigGrant{Module: s.bench.module.Name, Key: key, Value: s.world.Config[key]})
	}
	if g.Workspace.Path != "" {
		g.Workspace.Path = s.workspace()
	} else if s.world.Files != nil {
		g.Workspace = hostfuncs.WorkspaceGrant{Path: s.workspace(), Write: true}
	}
	if s.world.Mail != nil && g.Mail.Server == "" {
		g.Mail.Server, g.Mail.From = mailServer, mailSender
		if len(g.Mail.To) == 0 {
			g.Mail.To = []string{"*"}
		}
	}
	if len(g.Secrets) == 0 {
		for _, name := range slices.Sorted(maps.Keys(s.world.Secrets)) {
			g.Secrets = append(g.Secrets, hostfuncs.SecretGrant{Name: name, Source: world.SecretSource(name), Origins: origins(g, name)})
		}
	}
	return g
}

// origins are what a secret of the world may be sent to: every origin that is granted, or the mail server if it logs in with it.
func origins(g hostfuncs.Grants, name string) (all []string) {
	if g.Mail.Secret == name {
		return []string{g.Mail.Server}
	}
	for _, text := range g.HTTP {
		if h, err := hostfuncs.ParseHTTPGrant(text); err == nil && !slices.Contains(all, h.Origin) {
			all = append(all, h.Origin)
		}
	}
	return all
}

// wanted is what the manifest asks for. Where it names no targets, it is what the world has: the routes, the module's own store.
func (s *Stage) wanted() (g hostfuncs.Grants) {
	m := &s.bench.module.Manifest
	add := func(text string) {
		if h, err := hostfuncs.ParseHTTPGrant(text); err == nil && !slices.Contains(g.HTTP, h.String()) {
			g.HTTP = append(g.HTTP, h.String())
		}
	}
	for _, c := range m.Capabilities {
		switch {
		case c.Name == toolabi.FuncHTTPFetch, c.Name == toolabi.FuncHTTPSend:
			for _, target := range c.Targets {
				add(target)
			}
			for _, r := range s.world.HTTP {
				if len(c.Targets) == 0 {
					add(r.Origin())
				}
			}
		case strings.HasPrefix(c.Name, "kv_"):
			g.KV = addStores(g.KV, m.Name, c)
		case strings.HasPrefix(c.Name, "artifact_"):
			g.Artifacts = hostfuncs.DefaultArtifacts
		case strings.HasPrefix(c.Name, "workspace_"):
			g.Workspace.Path = s.workspace()
			g.Workspace.Write = g.Workspace.Write || c.Name == toolabi.FuncWorkspaceWrite || c.Name == toolabi.FuncWorkspaceRemove
		case c.Name == toolabi.FuncMailSend:
			g.Mail = hostfuncs.MailGrant{Server: mailServer, From: mailSender, To: slices.Clone(c.Targets)}
			if len(c.Targets) == 0 {
				g.Mail.To = []string{"*"}
			}
		}
	}
	return g
}

// addStores grants the stores of a capability: the module's own where it names none.
func addStores(have []hostfuncs.KVGrant, own string, c toolabi.Capability) []hostfuncs.KVGrant {
	names := c.Targets
	if len(names) == 0 {
		names = []string{own}
	}
	for _, name := range names {
		i := slices.IndexFunc(have, func(k hostfuncs.KVGrant) bool { return k.Store == name })
		if i < 0 {
			have, i = append(have, hostfuncs.KVGrant{Store: name}), len(have)
		}
		have[i].Write = have[i].Write || c.Name != toolabi.FuncKVGet && c.Name != toolabi.FuncKVList
	}
	return have
}
