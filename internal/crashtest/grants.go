package crashtest

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// mailServer is the mail server of every world that has mail.
var mailServer = hostfuncs.MailGrant{Server: "smtp://mail.example.com:587", From: "wrun@example.com"}

// offerOf is what a world has to grant. mail is the server that was granted otherwise.
func offerOf(w *world.World, mail hostfuncs.MailGrant) Offer {
	o := Offer{Config: w.Config, Secrets: slices.Sorted(maps.Keys(w.Secrets)), Mail: mail}
	for _, r := range w.HTTP {
		if at := r.Origin(); !slices.Contains(o.Origins, at) {
			o.Origins = append(o.Origins, at)
		}
	}
	if o.Mail.Server == "" && len(w.Mail) > 0 {
		o.Mail = mailServer
	}
	return o
}

// Workspace is where the files of a trial are, in its directory.
func Workspace(dir string) string { return filepath.Join(dir, "files") }

// Grants are what the manifests ask for, as far as the world has it.
func Grants(manifests []toolabi.Manifest, o Offer, dir string) (g hostfuncs.Grants) {
	for i := range manifests {
		for range 2 { // what is granted can make it want more: a mail server its secret
			for _, need := range authority.Missing(&manifests[i], g) {
				g = o.grant(g, need, dir)
			}
		}
	}
	return g
}

// grant grants what a manifest asks for, or nothing where the world does not have it.
func (o Offer) grant(g hostfuncs.Grants, n authority.Need, dir string) hostfuncs.Grants {
	values := []string{n.Value}
	name, _, _ := strings.Cut(n.Value, "=")
	switch n.Flag {
	case "allow-http":
		if n.Value == "ORIGIN" {
			values = o.Origins
		}
	case "secret":
		if values = nil; slices.Contains(o.Secrets, name) {
			values = []string{name + "=" + world.SecretSource(name) + "@" + strings.Join(o.origins(), ",")}
		}
	case "set":
		_, key, _ := strings.Cut(name, ".")
		if values = nil; key == "KEY" {
			for _, k := range slices.Sorted(maps.Keys(o.Config)) {
				values = append(values, strings.TrimSuffix(name, "KEY")+k+"="+o.Config[k])
			}
		} else if v, ok := o.Config[key]; ok {
			values = []string{name + "=" + v}
		}
	case "allow-artifacts":
		values = []string{hostfuncs.FormatSize(hostfuncs.DefaultArtifacts)}
	case "workspace":
		values = []string{strings.Replace(n.Value, "DIR", Workspace(dir), 1)}
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
		values = []string{name + "=" + Workspace(dir) + rights}
	}
	for _, v := range values {
		if more, err := grantfile.With(g, grantfile.Word{Flag: n.Flag, Value: v}); err == nil { // what is none, nobody can grant
			g = more
		}
	}
	return g
}

// origins are where secrets may be sent: wherever the world answers.
func (o Offer) origins() []string {
	if o.Mail.Server == "" {
		return o.Origins
	}
	return append(slices.Clone(o.Origins), o.Mail.Server)
}
