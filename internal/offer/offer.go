// Package offer makes grants out of what manifests ask for and a played world has: for the cases of a tool, and for a whole run that is
// killed. It judges nothing: what the world has, a module gets that asks for it.
package offer

import (
	"maps"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// Offer is what there is to grant.
type Offer struct {
	// Origins are what modules may reach that name no targets.
	Origins []string `json:"origins,omitempty"`
	// Secrets are names.
	Secrets []string `json:"secrets,omitempty"`
	// Config are the values of settings, by key.
	Config map[string]string `json:"config,omitempty"`
	// Mail is the mail server; the zero value is none.
	Mail hostfuncs.MailGrant `json:"mail,omitzero"`
	// Workspace is the directory of the run's files.
	Workspace string `json:"workspace,omitempty"`
	// Dirs says that it stands for each of the directories of a program too.
	Dirs bool `json:"dirs,omitempty"`
}

// MailServer is the mail server of worlds that have mail, where none was granted.
func MailServer() hostfuncs.MailGrant {
	return hostfuncs.MailGrant{Server: "smtps://mail.example.com:465", From: "wrun@example.com"}
}

// Origins are where a world answers.
func Origins(w *world.World) (all []string) {
	for _, r := range w.HTTP {
		if at := r.Origin(); !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}

// Grants are what the manifests ask for, each by itself, as far as it is offered.
func (o Offer) Grants(manifests []toolabi.Manifest) (g hostfuncs.Grants) {
	var secrets []string
	for i := range manifests {
		for _, need := range authority.Missing(&manifests[i], hostfuncs.Grants{}) {
			name, _, _ := strings.Cut(need.Value, "=")
			if need.Flag != "secret" {
				g = o.grant(g, need, name)
			} else if slices.Contains(o.Secrets, name) && !slices.Contains(secrets, name) {
				secrets = append(secrets, name)
			}
		}
	}
	g.Secrets = Secrets(g, secrets)
	return g
}

// grant grants one thing that a manifest asks for, or nothing where there is none.
func (o Offer) grant(g hostfuncs.Grants, n authority.Need, name string) hostfuncs.Grants {
	values := []string{n.Value}
	switch n.Flag {
	case "allow-http":
		if n.Value == "ORIGIN" {
			values = o.Origins
		}
	case "set":
		values = o.settings(name)
	case "allow-artifacts":
		values = []string{hostfuncs.FormatSize(hostfuncs.DefaultArtifacts)}
	case "workspace":
		values = []string{strings.Replace(n.Value, "DIR", o.Workspace, 1)}
	case "mail":
		if values = nil; o.Mail.Server != "" {
			values = []string{o.Mail.String()}
		}
	case "mail-to":
		if n.Value == "ADDRESS" {
			values = []string{"*"}
		}
	case "dir":
		_, rights, _ := strings.Cut(n.Value, "=PATH")
		if values = nil; o.Dirs {
			values = []string{name + "=" + o.Workspace + rights}
		}
	}
	for _, v := range values {
		if more, err := grantfile.With(g, grantfile.Word{Flag: n.Flag, Value: v}); err == nil { // what is none, nobody can grant
			g = more
		}
	}
	return g
}

// settings are the settings that MODULE.KEY asks for: all that there are, where it is that word.
func (o Offer) settings(name string) (values []string) {
	module, wanted, _ := strings.Cut(name, ".")
	for _, key := range slices.Sorted(maps.Keys(o.Config)) {
		if wanted == key || wanted == "KEY" {
			values = append(values, module+"."+key+"="+o.Config[key])
		}
	}
	return values
}

// Secrets grants secrets of a world. Each may be sent to every origin that is granted, or to the mail server if that is logged in to
// with it.
func Secrets(g hostfuncs.Grants, names []string) (all []hostfuncs.SecretGrant) {
	var origins []string
	for _, text := range g.HTTP {
		if h, err := hostfuncs.ParseHTTPGrant(text); err == nil && !slices.Contains(origins, h.Origin) {
			origins = append(origins, h.Origin)
		}
	}
	for _, name := range names {
		to := origins
		if g.Mail.Secret == name {
			to = []string{g.Mail.Server}
		}
		all = append(all, hostfuncs.SecretGrant{Name: name, Source: world.SecretSource(name), Origins: to})
	}
	return all
}
