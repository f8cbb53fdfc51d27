package crashtest

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/offer"
	"github.com/wrun-dev/wrun/internal/world"
)

// offerOf is what a world has to grant. mail is the server that was granted otherwise.
func offerOf(w *world.World, mail hostfuncs.MailGrant) offer.Offer {
	o := offer.Offer{Origins: offer.Origins(w), Secrets: slices.Sorted(maps.Keys(w.Secrets)), Config: w.Config, Mail: mail, Dirs: true}
	if o.Mail.Server == "" && len(w.Mail) > 0 {
		o.Mail = offer.MailServer()
	}
	return o
}

// Workspace is where the files of a trial are, in its directory.
func Workspace(dir string) string { return filepath.Join(dir, "files") }
