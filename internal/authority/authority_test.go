package authority_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/toolabi"
)

// shop asks for one of everything.
func shop() *toolabi.Manifest {
	return &toolabi.Manifest{
		Name: "shop", Version: "1.0.0",
		Tools: []toolabi.Tool{{Name: "buy", Idempotency: toolabi.Keyed, KeyTTLMS: 1000, Approval: true}, {Name: "see", Idempotency: toolabi.ReadOnly}},
		Capabilities: []toolabi.Capability{
			{Name: toolabi.FuncHTTPFetch, Reason: "to look", Targets: []string{"https://a.example/v1"}},
			{Name: toolabi.FuncHTTPSend, Reason: "to buy", Targets: []string{"POST https://a.example/v1/buy", "http://169.254.169.254"}, Secrets: []string{"key"}},
			{Name: toolabi.FuncSecretHas, Reason: "to know", Targets: []string{"key", "other"}},
			{Name: toolabi.FuncConfigGet, Reason: "to speak", Targets: []string{"lang"}},
			{Name: toolabi.FuncKVGet, Reason: "to remember", Targets: []string{"shop", "prices"}},
			{Name: toolabi.FuncKVPut, Reason: "to note", Targets: []string{"shop"}},
			{Name: toolabi.FuncArtifactPut, Reason: "to keep receipts"},
			{Name: toolabi.FuncWorkspaceRead, Reason: "to read orders"},
			{Name: toolabi.FuncMailSend, Reason: "to tell", Targets: []string{"@a.example", "ann@b.example"}},
		},
	}
}

// flags reads grants as an operator writes them: the flag, a blank, its value.
func flags(t *testing.T, lines ...string) (g hostfuncs.Grants) {
	t.Helper()
	for _, l := range lines {
		flag, value, _ := strings.Cut(l, " ")
		var err error
		if g, err = grantfile.With(g, grantfile.Word{Flag: flag, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func written(g hostfuncs.Grants) string {
	var lines []string
	for _, w := range grantfile.Words(g) {
		lines = append(lines, w.Flag+" "+w.Value)
	}
	return strings.Join(lines, "\n")
}

func TestAManifestDeterminesItsTargetsItsOwnStoreAndArtifacts(t *testing.T) {
	want := strings.Join([]string{
		"allow-http GET,HEAD https://a.example/v1", "allow-http POST https://a.example/v1/buy", "allow-kv shop", "allow-artifacts 1GiB",
	}, "\n")
	if got := written(authority.Offered(shop())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m := &toolabi.Manifest{Name: "m", Capabilities: []toolabi.Capability{{Name: toolabi.FuncHTTPSend}, {Name: toolabi.FuncKVList}, {Name: toolabi.FuncMailSend}}}
	if got := written(authority.Offered(m)); got != "allow-kv m:ro" {
		t.Errorf("without targets: got\n%s", got)
	}
}

func TestWhatIsAskedForAndNotGrantedIsNamedWithItsFlag(t *testing.T) {
	needs := func(m *toolabi.Manifest, g hostfuncs.Grants) string {
		var lines []string
		for _, n := range authority.Missing(m, g) {
			lines = append(lines, fmt.Sprintf("%s: --%s %s (%s)", n.What, n.Flag, n.Value, n.Reason))
		}
		return strings.Join(lines, "\n")
	}
	m := shop()
	want := strings.Join([]string{
		"to reach http://169.254.169.254 (link-local): --allow-http http://169.254.169.254 (to buy)",
		"secret key: --secret key=SOURCE@https://a.example (to buy)",
		"secret other: --secret other=SOURCE@https://a.example (to know)",
		"setting lang: --set shop.lang=VALUE (to speak)",
		"store prices: --allow-kv prices:ro (to remember)",
		"a workspace to read: --workspace DIR:ro (to read orders)",
		"a mail server: --mail SERVER,from=ADDRESS (to tell)",
		"mail to @a.example: --mail-to @a.example (to tell)",
		"mail to ann@b.example: --mail-to ann@b.example (to tell)",
	}, "\n")
	if got := needs(m, authority.Offered(m)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	all := authority.Offered(m).Union(flags(t, "allow-http http://169.254.169.254", "secret key=env:K@https://a.example", "secret other=env:O",
		"set shop.lang=en", "allow-kv prices:ro", "workspace /w:ro", "mail smtps://m.example:465,from=a@a.example", "mail-to *"))
	if got := needs(m, all); got != "" {
		t.Errorf("with all of it: got\n%s", got)
	}
	less := flags(t, "allow-http GET https://a.example", "allow-kv shop:ro", "mail smtps://m.example:465,from=a@a.example,user=u,secret=pw", "mail-to @b.example")
	got := needs(m, less)
	for _, line := range []string{
		"to reach GET,HEAD https://a.example/v1: --allow-http GET,HEAD https://a.example/v1 (to look)", "to write to store shop: --allow-kv shop (to remember)",
		"secret pw, for the mail server: --secret pw=SOURCE@smtps://m.example:465 (to tell)", "artifacts: --allow-artifacts  (to keep receipts)",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing in\n%s", line, got)
		}
	}
	if strings.Contains(got, "ann@b.example") {
		t.Errorf("all of b.example may be written to:\n%s", got)
	}
	program := &toolabi.Manifest{Name: "p", Command: &toolabi.Command{Dirs: []toolabi.Dir{{Name: "in"}, {Name: "out", Write: true}, {Name: "log", Write: true}}}}
	if got, want := needs(program, flags(t, "dir out=/o")), "directory in: --dir in=PATH ()\nto write to directory out: --dir out=/o:rw ()\ndirectory log, to change it: --dir log=PATH:rw ()"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGrantsThatAModuleCannotUseAreToldApart(t *testing.T) {
	g := flags(t, "allow-http https://a.example", "allow-http DELETE https://a.example/v1/buy", "allow-http https://b.example", "allow-net 10.0.0.0/8",
		"secret key=env:K", "secret not=env:N", "secret pw=env:P", "set shop.lang=en", "set shop.not=1", "set other.lang=en", "allow-kv prices", "allow-kv not",
		"allow-artifacts 7", "workspace /w", "mail smtps://m.example:465,from=a@a.example,user=u,secret=pw", "dir in=/i")
	usable, useless := authority.Usable(shop(), g)
	if got, want := written(useless), strings.Join([]string{
		"allow-http DELETE https://a.example/v1/buy", "allow-http https://b.example", "secret not=env:N", "set shop.not=1", "set other.lang=en", "allow-kv not", "dir in=/i:ro",
	}, "\n"); got != want {
		t.Errorf("useless are\n%s\nwant\n%s", got, want)
	}
	if n := len(grantfile.Words(usable)); n != 9 {
		t.Errorf("%d are usable:\n%s", n, written(usable))
	}
	none, all := authority.Usable(&toolabi.Manifest{Name: "m"}, g)
	if !none.IsZero() || !all.Equal(g) {
		t.Errorf("a module that asks for nothing uses\n%s\nand not\n%s", written(none), written(all))
	}
}

func TestVersionsAreComparedAndWhatIsWiderIsMarked(t *testing.T) {
	cap := func(m *toolabi.Manifest, name string) *toolabi.Capability {
		return &m.Capabilities[slices.IndexFunc(m.Capabilities, func(c toolabi.Capability) bool { return c.Name == name })]
	}
	for _, c := range []struct {
		name   string
		change func(*authority.Module)
		want   string // + before what is wider
	}{
		{"nothing", func(*authority.Module) {}, ""},
		{"version", func(m *authority.Module) { m.Manifest.Version = "1.0.1" }, " version: 1.0.1, was 1.0.0"},
		{"tool added", func(m *authority.Module) { m.Manifest.Tools = append(m.Manifest.Tools, toolabi.Tool{Name: "new"}) }, "+tool new: added (non_idempotent)"},
		{"tool removed", func(m *authority.Module) { m.Manifest.Tools = m.Manifest.Tools[:1] }, " tool see: removed"},
		{"idempotency", func(m *authority.Module) { m.Manifest.Tools[0].Idempotency = toolabi.Idempotent }, "+tool buy: idempotent, was keyed"},
		{"more careful", func(m *authority.Module) { m.Manifest.Tools[0].Idempotency = "" }, " tool buy: non_idempotent, was keyed"},
		{"reads, then writes", func(m *authority.Module) { m.Manifest.Tools[1].Idempotency = "" }, "+tool see: non_idempotent, was read"},
		{"approval", func(m *authority.Module) { m.Manifest.Tools[0].Approval = false }, "+tool buy: nobody has to agree any more"},
		{"more approval", func(m *authority.Module) { m.Manifest.Tools[1].Approval = true }, " tool see: a person has to agree"},
		{"destructive", func(m *authority.Module) { m.Manifest.Tools[0].Destructive = true }, "+tool buy: cannot be undone"},
		{"key_ttl", func(m *authority.Module) { m.Manifest.Tools[0].KeyTTLMS = 2000 }, "+tool buy: keys are remembered for 2s, was 1s"},
		{"capability", func(m *authority.Module) {
			m.Manifest.Capabilities = append(m.Manifest.Capabilities, toolabi.Capability{Name: toolabi.FuncKVDelete, Reason: "to forget", Targets: []string{"shop"}})
			m.Functions = append(m.Functions, toolabi.FuncKVDelete)
		}, "+kv_delete: added: to forget\n+kv_delete: added: store shop\n+imports: added: kv_delete"},
		{"target", func(m *authority.Module) {
			cap(m.Manifest, toolabi.FuncHTTPSend).Targets[0] = "https://b.example"
		}, "+http_send: added: to reach https://b.example\n http_send: removed: to reach POST https://a.example/v1/buy"},
		{"narrower target", func(m *authority.Module) {
			cap(m.Manifest, toolabi.FuncHTTPSend).Targets[0] = "POST https://a.example/v1/buy/now"
		}, " http_send: added: to reach POST https://a.example/v1/buy/now\n http_send: removed: to reach POST https://a.example/v1/buy"},
		{"no targets", func(m *authority.Module) {
			cap(m.Manifest, toolabi.FuncKVGet).Targets = nil
		}, "+kv_get: whatever is granted, was 2 targets\n kv_get: removed: store shop\n kv_get: removed: store prices"},
		{"secret", func(m *authority.Module) {
			cap(m.Manifest, toolabi.FuncHTTPSend).Secrets = []string{"key", "k2"}
		}, "+http_send: added: secret k2"},
		{"reason", func(m *authority.Module) { cap(m.Manifest, toolabi.FuncConfigGet).Reason = "why not" }, " config_get, reason: why not, was to speak"},
		{"limit raised", func(m *authority.Module) { m.Manifest.Limits.TimeoutMS = 3000 }, "+limits: timeout 3s, was 2s"},
		{"limit removed", func(m *authority.Module) { m.Manifest.Limits.Fuel = 0 }, "+limits: fuel not named, was 7"},
		{"limit named", func(m *authority.Module) { m.Manifest.Limits.MemoryBytes = 1 }, " limits: memory 1, was not named"},
		{"mode", func(m *authority.Module) {
			m.Manifest.Command = &toolabi.Command{Dirs: []toolabi.Dir{{Name: "in", Path: "/in", Reason: "r"}}}
		}, "+mode: a program of WASI, was a module with host functions\n+directory in: added: /in, to read: r"},
	} {
		a, b := authority.Module{Manifest: shop(), Functions: []string{"log"}}, authority.Module{Manifest: shop(), Functions: []string{"log"}}
		for _, m := range []*authority.Module{&a, &b} {
			m.Manifest.Limits = toolabi.Limits{TimeoutMS: 2000, Fuel: 7}
		}
		c.change(&b)
		changes := authority.Compare(a, b)
		var lines []string
		for _, ch := range changes {
			lines = append(lines, map[bool]string{true: "+", false: " "}[ch.Wider]+ch.About+": "+ch.What)
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		if authority.Wider(changes) != strings.Contains(c.want, "+") {
			t.Errorf("%s: wider %v", c.name, authority.Wider(changes))
		}
	}
}
