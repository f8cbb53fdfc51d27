package offer_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/offer"
	"github.com/wrun-dev/wrun/toolabi"
)

// manifests ask for one of everything: the first by name, the second for whatever there is.
func manifests() []toolabi.Manifest {
	return []toolabi.Manifest{
		{Name: "named", Capabilities: []toolabi.Capability{
			{Name: toolabi.FuncHTTPFetch, Targets: []string{"https://a.example/v1"}, Secrets: []string{"key"}},
			{Name: toolabi.FuncSecretHas, Targets: []string{"other"}},
			{Name: toolabi.FuncConfigGet, Targets: []string{"lang"}},
			{Name: toolabi.FuncKVGet, Targets: []string{"shared"}},
			{Name: toolabi.FuncWorkspaceRead},
			{Name: toolabi.FuncMailSend, Targets: []string{"@a.example"}},
		}},
		{Name: "any", Capabilities: []toolabi.Capability{
			{Name: toolabi.FuncHTTPSend}, {Name: toolabi.FuncConfigGet}, {Name: toolabi.FuncKVPut}, {Name: toolabi.FuncArtifactPut},
			{Name: toolabi.FuncWorkspaceWrite}, {Name: toolabi.FuncMailSend},
		}},
		{Name: "program", Command: &toolabi.Command{Dirs: []toolabi.Dir{{Name: "in"}, {Name: "out", Write: true}}}},
	}
}

func written(g hostfuncs.Grants) string {
	var lines []string
	for _, w := range grantfile.Words(g) {
		lines = append(lines, w.Flag+" "+w.Value)
	}
	return strings.Join(lines, "\n")
}

func TestWhatIsAskedForIsGrantedAsFarAsItIsOffered(t *testing.T) {
	all := offer.Offer{
		Origins: []string{"https://b.example"}, Secrets: []string{"key", "other", "unasked"}, Config: map[string]string{"lang": "en", "size": "7"},
		Mail: offer.MailServer(), Workspace: "/w", Dirs: true,
	}
	g := all.Grants(manifests())
	for _, m := range manifests() {
		if missing := authority.Missing(&m, g); len(missing) > 0 {
			t.Errorf("%s has not %+v", m.Name, missing)
		}
	}
	want := strings.Join([]string{
		"allow-http GET,HEAD https://a.example/v1", "allow-http https://b.example",
		"secret key=env:WRUN_WORLD_key@https://a.example,https://b.example", "secret other=env:WRUN_WORLD_other@https://a.example,https://b.example",
		"set named.lang=en", "set any.lang=en", "set any.size=7", "allow-kv shared:ro", "allow-kv any", "allow-artifacts 1GiB", "workspace /w:rw",
		"mail smtps://mail.example.com:465,from=wrun@example.com", "mail-to @a.example", "mail-to *", "dir in=/w:ro", "dir out=/w:rw",
	}, "\n")
	if got := written(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = strings.Join([]string{
		"allow-http GET,HEAD https://a.example/v1", "allow-kv shared:ro", "allow-kv any", "allow-artifacts 1GiB", "workspace /w:rw", "mail-to @a.example", "mail-to *",
	}, "\n")
	if got := written(offer.Offer{Workspace: "/w"}.Grants(manifests())); got != want {
		t.Errorf("of a world that has nothing: got\n%s\nwant\n%s", got, want)
	}
}
