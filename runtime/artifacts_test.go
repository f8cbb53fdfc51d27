package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// keeping adds functions that keep and read artifacts to a machine's: keep stores its request and answers with the digest,
// lose stores it and fails, read answers with the artifact of a digest, count with how many the run has and their bytes.
func keeping(c *runtime.Config) {
	keep := func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
		d, n, err := c.Artifacts.Put(ctx, strings.NewReader(string(req)))
		if err == nil && n != int64(len(req)) {
			err = fmt.Errorf("stored %d bytes of %d", n, len(req))
		}
		return []byte(journal.Digest(d).String()), err
	}
	lose := func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
		if _, err := keep(ctx, c, req); err != nil {
			return nil, err
		}
		return nil, toolabi.NewError(toolabi.Conflict, "no")
	}
	read := func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
		d, _ := toolabi.ParseDigest(string(req))
		r, n, err := c.Artifacts.Open(ctx, d)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, toolabi.NewError(toolabi.NotFound, "swallowed: "+err.Error()) // the run ends all the same
		}
		if int64(len(b)) != n {
			return nil, fmt.Errorf("%d bytes of %d", len(b), n)
		}
		return b, nil
	}
	count := func(ctx context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
		n, size, err := c.Artifacts.Usage(ctx)
		return fmt.Appendf(nil, "%d of %d", n, size), err
	}
	c.Funcs = append(c.Funcs,
		hostfuncs.Func{Name: "keep", Class: toolabi.Effect, Call: keep, Bulky: true},
		hostfuncs.Func{Name: "lose", Class: toolabi.Effect, Call: lose},
		hostfuncs.Func{Name: "read", Class: toolabi.Read, Call: read},
		hostfuncs.Func{Name: "count", Class: toolabi.Read, Call: count})
}

func digestOf(s string) string { return journal.DigestOf([]byte(s)).String() }

func refsOf(t *testing.T, m *machine, run string) (refs []string) {
	t.Helper()
	for e, err := range m.mem.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range e.Refs {
			if e.Kind == journal.Result {
				refs = append(refs, fmt.Sprintf("%s %s", e.Step, d.Short()))
			}
		}
	}
	return refs
}

func short(s string) string { return journal.DigestOf([]byte(s)).Short() }

// Only what a result of the run names is an artifact of it, and it is one at once.
func TestARunHasTheArtifactsThatItsResultsName(t *testing.T) {
	m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
		said := []string{g.must("count", "")}
		if got := g.must("keep", "one"); got != digestOf("one") {
			t.Errorf("kept as %s", got)
		}
		g.must("keep", "one")
		g.must("keep", "")
		said = append(said, g.must("read", digestOf("one")), g.must("read", digestOf("")), g.must("count", "2"))
		for _, s := range []string{"never", "lost", "module m", strings.Repeat("b", 70_000)} {
			if _, err := g.ask("lose", s); !errors.Is(err, toolabi.Conflict) {
				t.Errorf("lost %.10q: %v", s, err)
			}
			if reply, err := g.ask("read", digestOf(s)); !errors.Is(err, toolabi.NotFound) {
				t.Errorf("%.10q is read: %q, %v", s, reply, err)
			}
		}
		return fmt.Sprintf("%q", strings.Join(append(said, g.must("count", "3")), ", "))
	}})
	res, err := m.drive(m.process(m.mem.Handle(), keeping), steps("it"))
	if want := `["0 of 0, one, , 2 of 3, 2 of 3"]`; err != nil || string(res.Output) != want {
		t.Fatalf("%s, %v, want %s", res.Output, err, want)
	}
	want := []string{"s1/2 " + short("one"), "s1/3 " + short("one"), "s1/4 " + short("")}
	if got := refsOf(t, m, "r"); !slices.Equal(got, want) {
		t.Errorf("the log refers to %q, want %q", got, want)
	}
	for e, err := range m.mem.Read(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.Intent && e.Name == "keep" && (len(e.Body) > 0 || e.Request.IsZero()) {
			t.Errorf("the intent of %s has %d bytes of the request", e.Step, len(e.Body))
		}
	}
}

// Another run has other artifacts, and a copy has those of the results that it took.
func TestArtifactsBelongToTheirRunAndItsCopies(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"keep": func(g *guest, _ string) string { return `"` + g.must("keep", "one") + `"` },
		"more": func(g *guest, _ string) string { return `"` + g.must("keep", "more") + `"` },
		"look": func(g *guest, _ string) string {
			_, err := g.ask("read", digestOf("more"))
			return fmt.Sprintf("%q", g.must("count", "")+fmt.Sprint(" ", err != nil && err.Code == toolabi.NotFound))
		},
	})
	drive := func(run string, driver runtime.Driver) string {
		t.Helper()
		p := m.process(m.mem.Handle(), keeping)
		spec, modules := m.spec(`{}`)
		if _, err := p.Start(t.Context(), run, spec, modules, true); err != nil {
			t.Fatal(err)
		}
		res, err := p.Drive(t.Context(), run, runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Output)
	}
	first := fmt.Sprintf(`["%s","%s",`, digestOf("one"), digestOf("more"))
	if got, want := drive("r", steps("keep", "more", "look")), first+`"2 of 7 false"]`; got != want {
		t.Errorf("the first run says %s, want %s", got, want)
	}
	if got, want := drive("other", steps("look")), `["0 of 0 true"]`; got != want {
		t.Errorf("another run says %s, want %s", got, want)
	}
	if _, err := m.start(nil).Fork(t.Context(), "r", "s2", "copy", "", ""); err != nil {
		t.Fatal(err)
	}
	p := m.process(m.mem.Handle(), keeping)
	res, err := p.Drive(t.Context(), "copy", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("keep", "look")}})
	if want := fmt.Sprintf(`["%s","1 of 3 true"]`, digestOf("one")); err != nil || string(res.Output) != want {
		t.Errorf("the copy says %s, %v, want %s", res.Output, err, want)
	}
}

// An artifact that the log names and that is gone, short or changed stops the run. It is never an answer.
func TestADamagedArtifactStopsTheRun(t *testing.T) {
	for name, bad := range map[string]func(journaltest.Store) journaltest.Store{
		"gone":    func(s journaltest.Store) journaltest.Store { return badBlobs{s, "", journal.ErrNotFound} },
		"changed": func(s journaltest.Store) journaltest.Store { return badBlobs{s, "onf", journal.ErrDamaged} },
		"short":   func(s journaltest.Store) journaltest.Store { return badBlobs{s, "on", io.EOF} },
		"long":    func(s journaltest.Store) journaltest.Store { return badBlobs{s, "onee", io.EOF} },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{
				"keep": func(g *guest, _ string) string { g.must("keep", "one"); return `1` },
				"read": func(g *guest, _ string) string { g.ask("read", digestOf("one")); return `2` },
			})
			p := m.process(bad(m.mem.Handle()), keeping)
			_, err := m.drive(p, steps("keep", "read"))
			var stopped *runtime.JournalError
			if !errors.As(err, &stopped) || !errors.Is(err, journal.ErrDamaged) {
				t.Fatalf("ended with %v, want a damaged journal", err)
			}
			if log := m.log(); slices.Contains(log, "result s2") || slices.Contains(log, "result s2/1") {
				t.Errorf("the log says %v", log)
			}
			if res, err := m.drive(m.process(m.mem.Handle(), keeping), steps("keep", "read")); err != nil || string(res.Output) != `[1,2]` {
				t.Errorf("after the repair: %s, %v", res.Output, err)
			}
		})
	}
}

// badBlobs is a journal whose blobs of three bytes are read as other ones, and end with an error.
type badBlobs struct {
	journaltest.Store
	bytes string
	end   error
}

func (b badBlobs) Open(ctx context.Context, d journal.Digest) (io.ReadCloser, error) {
	if n, err := b.Store.Stat(ctx, d); err != nil || n != 3 {
		return b.Store.Open(ctx, d)
	}
	if b.end == journal.ErrNotFound {
		return nil, fmt.Errorf("blob: %w", b.end)
	}
	return io.NopCloser(io.MultiReader(strings.NewReader(b.bytes), endsWith{b.end})), nil
}

type endsWith struct{ err error }

func (e endsWith) Read([]byte) (int, error) { return 0, e.err }

// A disk that is full stops the run before anything refers to what is not there, and the put is made again.
func TestAFullDiskLeavesNoArtifactBehind(t *testing.T) {
	m := newMachine(t, nil)
	disk := &full{Store: m.mem.Handle()}
	m.tools = map[string]tool{"it": func(g *guest, _ string) string {
		disk.blobs = true
		return `"` + g.must("keep", "one") + `"`
	}}
	_, err := m.drive(m.process(disk, keeping), steps("it"))
	if !errors.Is(err, journal.ErrNoSpace) || len(refsOf(t, m, "r")) != 0 {
		t.Fatalf("ended with %v, refers to %v", err, refsOf(t, m, "r"))
	}
	res, err := m.drive(m.process(m.mem.Handle(), keeping), steps("it"))
	if want := `["` + digestOf("one") + `"]`; err != nil || string(res.Output) != want {
		t.Errorf("resumed with %s, %v, want %s", res.Output, err, want)
	}
}

// What one branch keeps another one has as soon as it is in the log.
func TestParallelBranchesShareTheArtifactsOfTheirRun(t *testing.T) {
	kept := make(chan struct{})
	m := newMachine(t, map[string]tool{
		"keep": func(g *guest, _ string) string { g.must("keep", "one"); close(kept); return `1` },
		"read": func(g *guest, _ string) string { <-kept; return `"` + g.must("read", digestOf("one")) + `"` },
	})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var out []byte
		res := r.CallAll(ctx, []runtime.CallSpec{{Step: "a", Tool: "m.keep", Input: []byte(`{}`)}, {Step: "b", Tool: "m.read", Input: []byte(`{}`)}})
		for _, one := range res {
			if one.Err != nil {
				return nil, one.Err
			}
			out = append(out, one.Output...)
		}
		return out, nil
	}
	if res, err := m.drive(m.process(m.mem.Handle(), keeping), driver); err != nil || string(res.Output) != `1"one"` {
		t.Errorf("%s, %v", res.Output, err)
	}
}

// Of steps that come to a cap at once, those that stored first count against the others, and not the other way round.
func TestWhatStepsAreAboutToKeepCountsInTheOrderOfTheirPuts(t *testing.T) {
	const most = 3
	capped := func(c *runtime.Config) {
		keeping(c)
		c.Funcs = append(c.Funcs, hostfuncs.Func{Name: "capped", Class: toolabi.Effect, Call: func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
			if _, _, err := c.Artifacts.Put(ctx, strings.NewReader(string(req))); err != nil {
				return nil, err
			}
			if n, _, err := c.Artifacts.Usage(ctx); err != nil || n > most {
				return nil, errors.Join(err, toolabi.NewError(toolabi.TooLarge, "full"))
			}
			return req, nil
		}})
	}
	var mu sync.Mutex
	refused := 0
	m := newMachine(t, map[string]tool{"it": func(g *guest, input string) string {
		if _, err := g.ask("capped", input); err != nil {
			mu.Lock()
			refused++
			mu.Unlock()
		}
		return `1`
	}})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var calls []runtime.CallSpec
		for i := range 10 {
			calls = append(calls, runtime.CallSpec{Step: journal.Step(fmt.Sprintf("s%d", i)), Tool: "m.it", Input: fmt.Appendf(nil, "%d", i)})
		}
		for _, one := range r.CallAll(ctx, calls) {
			if one.Err != nil {
				return nil, one.Err
			}
		}
		return []byte(`1`), nil
	}
	if _, err := m.drive(m.process(m.mem.Handle(), capped), driver); err != nil {
		t.Fatal(err)
	}
	if refs := refsOf(t, m, "r"); len(refs) > most || refused != 10-len(refs) {
		t.Errorf("%d are kept, at most %d may be; %d were refused", len(refs), most, refused)
	}
}

// The versions of files are folded from the log, in its order, whoever drives.
func TestVersionsOfFilesComeFromTheLog(t *testing.T) {
	files := func(c *runtime.Config) {
		write := func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
			d, _, err := c.Artifacts.Put(ctx, strings.NewReader("text of "+string(req)))
			if err != nil {
				return nil, err
			}
			return toolabi.Encode(toolabi.WorkspaceWriteReply{Path: string(req), Artifact: journal.Digest(d).String()})
		}
		remove := func(_ context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
			if string(req) == "no" {
				return nil, toolabi.NewError(toolabi.Denied, "no")
			}
			return toolabi.Encode(toolabi.WorkspaceRemoveReply{Path: string(req)})
		}
		list := func(_ context.Context, c hostfuncs.Call, _ []byte) (said []byte, err error) {
			for _, v := range c.Versions() {
				said = fmt.Appendf(said, "%s %v %s;", v.Path, v.Removed, journal.Digest(v.Artifact).Short())
			}
			return said, nil
		}
		c.Funcs = append(c.Funcs,
			hostfuncs.Func{Name: toolabi.FuncWorkspaceWrite, Class: toolabi.Effect, Call: write},
			hostfuncs.Func{Name: toolabi.FuncWorkspaceRemove, Class: toolabi.Effect, Call: remove},
			hostfuncs.Func{Name: toolabi.FuncWorkspaceList, Class: toolabi.Read, Call: list})
	}
	m := newMachine(t, map[string]tool{
		"change": func(g *guest, _ string) string {
			g.must(toolabi.FuncWorkspaceWrite, "a")
			g.must(toolabi.FuncWorkspaceRemove, "b")
			g.ask(toolabi.FuncWorkspaceRemove, "no")
			g.must(toolabi.FuncWorkspaceWrite, "b")
			return `1`
		},
		"list": func(g *guest, _ string) string { return fmt.Sprintf("%q", g.must(toolabi.FuncWorkspaceList, "")) },
	})
	none := journal.Digest{}.Short()
	want := fmt.Sprintf(`[1,"a false %s;b true %s;b false %s;"]`, short("text of a"), none, short("text of b"))
	h := m.mem.Handle()
	_, err := m.drive(m.process(h, files), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		out, err := steps("change")(ctx, r)
		if err := errors.Join(err, r.Flush()); err != nil {
			return nil, err
		}
		h.Kill()
		return out, journal.ErrUnusable
	})
	if !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the kill shows as %v", err)
	}
	if res, err := m.drive(m.process(m.mem.Handle(), files), steps("change", "list")); err != nil || string(res.Output) != want {
		t.Errorf("%s, %v, want %s", res.Output, err, want)
	}
}

// What a process stored that was fenced meanwhile is named by its late outcome, so that it is not garbage, and is not the run's.
func TestALateOutcomeNamesItsArtifactAndMakesNone(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"keep": func(g *guest, _ string) string { return `"` + g.must("keep", "one") + `"` },
		"look": func(g *guest, _ string) string { return `"` + g.must("count", "") + `"` },
	})
	p := m.process(&onPut{m.mem.Handle(), "one", m.steal}, keeping)
	var busy *runtime.BusyError
	if _, err := m.drive(p, steps("keep", "look")); !errors.As(err, &busy) || !slices.Equal(busy.Late, []journal.Step{"s1/1"}) {
		t.Fatalf("ended with %v", err)
	}
	late := false
	for e, err := range m.mem.Read(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.Late {
			late = slices.Equal(e.Refs, []journal.Digest{journal.DigestOf([]byte("one"))})
		}
	}
	if got := refsOf(t, m, "r"); !late || len(got) != 0 {
		t.Errorf("the late outcome names it: %v; results name %v", late, got)
	}
	p = m.process(m.mem.Handle(), keeping)
	if kept, err := p.Artifacts(t.Context(), "r"); err != nil || len(kept) != 0 {
		t.Errorf("the run has %v, %v", kept, err)
	}
	if err := p.Acknowledge(t.Context(), "r", "somebody", ""); err != nil {
		t.Fatal(err)
	}
	if res, err := m.drive(p, steps("keep", "look")); err != nil || string(res.Output) != `["`+digestOf("one")+`","1 of 3"]` {
		t.Errorf("gone on with: %s, %v", res.Output, err)
	}
}

// onPut is a journal that calls do once before it stores a blob of these bytes.
type onPut struct {
	*journaltest.Mem
	bytes string
	do    func()
}

func (o *onPut) Put(ctx context.Context, r io.Reader) (journal.Digest, int64, error) {
	b, err := io.ReadAll(r)
	if do := o.do; err == nil && string(b) == o.bytes && do != nil {
		o.do = nil
		do()
	}
	return o.Mem.Put(ctx, strings.NewReader(string(b)))
}

// A source that breaks off is the function's to answer for, and keeps nothing.
func TestASourceThatBreaksOffKeepsNothing(t *testing.T) {
	broken := errors.New("the source broke")
	half := func(c *runtime.Config) {
		keeping(c)
		c.Funcs = append(c.Funcs, hostfuncs.Func{Name: "half", Class: toolabi.Effect, Call: func(ctx context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
			_, _, err := c.Artifacts.Put(ctx, io.MultiReader(strings.NewReader("half"), endsWith{broken}))
			if err != broken {
				t.Errorf("the error is %v", err)
			}
			return nil, toolabi.NewError(toolabi.Unavailable, "broken")
		}})
	}
	m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
		_, err := g.ask("half", "")
		return fmt.Sprintf("%q", fmt.Sprint(err.Code, " ", g.must("count", "")))
	}})
	if res, err := m.drive(m.process(m.mem.Handle(), half), steps("it")); err != nil || string(res.Output) != `["unavailable 0 of 0"]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}

// That the reply of what must not be repeated cannot be kept does not make it unknown what became of it.
func TestAReplyThatCannotBeKeptIsNotInDoubt(t *testing.T) {
	m := newMachine(t, nil)
	disk := &full{Store: m.mem.Handle()}
	once := func(c *runtime.Config) {
		keeping(c)
		c.Funcs[0].Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
			if err := c.BeforeSend(); err != nil {
				return nil, err
			}
			_, err := m.world.send(ctx, c, req)
			disk.blobs = true
			if _, _, perr := c.Artifacts.Put(ctx, strings.NewReader("the reply")); perr == nil || err != nil {
				t.Errorf("kept: %v, sent: %v", perr, err)
			}
			applied := toolabi.NewError(toolabi.Internal, "it could not be kept")
			applied.Effect = toolabi.EffectApplied
			return nil, applied
		}
	}
	m.tools = map[string]tool{"it": func(g *guest, _ string) string {
		_, err := g.ask(toolabi.FuncHTTPSend, "a")
		return fmt.Sprintf("%q", err.Effect)
	}}
	if res, err := m.drive(m.process(disk, once), steps("it")); err != nil || string(res.Output) != `["applied"]` || m.world.count("a") != 1 {
		t.Errorf("%s, %v, sent %d times", res.Output, err, m.world.count("a"))
	}
}

// What a step stores before it fails belongs to nobody, and no cap of a function counts it: a tool could fill the disk with it.
func TestWhatIsStoredInVainHasACapToo(t *testing.T) {
	refused, stored := 0, 0
	m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
		for i := range 30 {
			switch _, err := g.ask("lose", fmt.Sprintf("%010d", i)); {
			case errors.Is(err, toolabi.TooLarge):
				refused++
			case errors.Is(err, toolabi.Conflict):
				stored++
			}
		}
		for range 30 { // the same bytes are there once
			g.ask("lose", "0000000000")
		}
		return `"` + g.must("count", "") + `"`
	}})
	m.grants = hostfuncs.Grants{Artifacts: 100}
	res, err := m.drive(m.process(m.mem.Handle(), keeping), steps("it"))
	if err != nil || string(res.Output) != `["0 of 0"]` || stored != 11 || refused != 19 {
		t.Errorf("%s, %v: %d were stored and %d refused", res.Output, err, stored, refused)
	}
}
