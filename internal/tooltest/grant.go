package tooltest

import (
	"maps"
	"slices"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/offer"
	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/toolabi"
)

// grant is what the case lets the module do: what it says, or else what the manifest asks for, and whatever its world has.
func (s *Stage) grant(explicit *toolcase.Grants) hostfuncs.Grants {
	var g hostfuncs.Grants
	if explicit != nil {
		g = explicit.Grants
		g.KV, g.Secrets = slices.Clone(g.KV), slices.Clone(g.Secrets)
	} else {
		asked := offer.Offer{Origins: offer.Origins(s.world), Mail: offer.MailServer(), Workspace: s.workspace()}
		g = asked.Grants([]toolabi.Manifest{s.bench.module.Manifest})
	}
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
		to := g.Mail.To
		if g.Mail = offer.MailServer(); len(to) == 0 {
			to = []string{"*"}
		}
		g.Mail.To = to
	}
	if len(g.Secrets) == 0 {
		g.Secrets = offer.Secrets(g, slices.Sorted(maps.Keys(s.world.Secrets)))
	}
	return g
}
