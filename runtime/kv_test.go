package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// call asks a standard function with messages of the ABI.
func call[Reply any](g *guest, name string, req any) (reply Reply, err error) {
	raw, err := toolabi.Encode(req)
	if err != nil {
		panic(err)
	}
	answer, failed := g.ask(name, string(raw))
	if failed != nil {
		return reply, failed
	}
	return reply, toolabi.Decode([]byte(answer), &reply)
}

// sure is call for what must not fail.
func sure[Reply any](g *guest, name string, req any) Reply {
	reply, err := call[Reply](g, name, req)
	if err != nil {
		panic(hostfuncs.AsError(err))
	}
	return reply
}

// count adds one to a key with kv_get and kv_put, and returns what it is then.
func count(g *guest, key string) int {
	now := sure[toolabi.KVGetReply](g, toolabi.FuncKVGet, toolabi.KVGetRequest{Key: key})
	n, _ := strconv.Atoi(string(now.Value))
	sure[toolabi.KVPutReply](g, toolabi.FuncKVPut, toolabi.KVPutRequest{Key: key, Value: fmt.Append(nil, n+1)})
	return n + 1
}

// countShared adds one to a key with kv_cas, until it is the one that did.
func countShared(g *guest, key string) int {
	for {
		now := sure[toolabi.KVGetReply](g, toolabi.FuncKVGet, toolabi.KVGetRequest{Key: key})
		n, _ := strconv.Atoi(string(now.Value))
		_, err := call[toolabi.KVPutReply](g, toolabi.FuncKVCAS, toolabi.KVCASRequest{Key: key, Value: fmt.Append(nil, n+1), Expect: now.Version})
		if err == nil {
			return n + 1
		}
		if !errors.Is(err, toolabi.Conflict) {
			panic(hostfuncs.AsError(err))
		}
	}
}

var tallyGrants = hostfuncs.Grants{KV: []hostfuncs.KVGrant{{Store: "m", Write: true}}, Artifacts: 1 << 30}

// tally counts in two ways, sets and removes a key, and keeps a report.
func tally(g *guest, _ string) string {
	n := count(g, "n")
	g.must(toolabi.FuncHTTPSend, fmt.Sprint("charge ", n))
	shared := countShared(g, "shared")
	sure[toolabi.KVPutReply](g, toolabi.FuncKVPut, toolabi.KVPutRequest{Key: fmt.Sprint("gone/", n), Value: []byte("soon")})
	if found := sure[toolabi.KVDeleteReply](g, toolabi.FuncKVDelete, toolabi.KVDeleteRequest{Key: fmt.Sprint("gone/", n)}).Found; !found {
		panic(toolabi.NewError(toolabi.Failed, "it does not see what it wrote"))
	}
	report := sure[toolabi.ArtifactPutReply](g, toolabi.FuncArtifactPut, toolabi.ArtifactPutRequest{Body: report(n), Name: fmt.Sprintf("report-%d.txt", n)})
	back := sure[toolabi.ArtifactGetReply](g, toolabi.FuncArtifactGet, toolabi.ArtifactGetRequest{Artifact: report.Artifact, Offset: 7})
	left := sure[toolabi.KVListReply](g, toolabi.FuncKVList, toolabi.KVListRequest{})
	return fmt.Sprintf(`"%d %d %s %d %d"`, n, shared, report.Artifact[:8], len(back.Body), len(left.Items))
}

// report is longer than what is kept in a log.
func report(n int) []byte { return bytes.Repeat(fmt.Appendf(nil, "report %d\n", n), 8000) }

// tallies is a run that counts to three.
func tallies() shape {
	s := shape{
		name: "counts and reports", tools: map[string]tool{"tally": tally}, driver: steps("tally", "tally", "tally"), grants: tallyGrants,
		effects: map[string]int{"charge 1": 1, "charge 2": 1, "charge 3": 1},
		kept:    func(m *machine) { m.wantTally(3) },
	}
	var out []string
	for n := 1; n <= 3; n++ {
		out = append(out, fmt.Sprintf(`"%d %d %s %d 2"`, n, n, journal.DigestOf(report(n)).String()[:8], len(report(n))-7))
	}
	s.output = "[" + strings.Join(out, ",") + "]"
	return s
}

// wantTally holds the state of tools against what a run that counts to n leaves: the counters, nothing else, a record that
// agrees, and every artifact that the log names.
func (m *machine) wantTally(n int) {
	m.t.Helper()
	size := 0
	for item, err := range m.mem.Scan(m.t.Context(), "kv:m", "", "") {
		if err != nil {
			m.t.Fatal(err)
		}
		size += len(item.Key) + len(item.Value)
		if string(item.Value) != fmt.Sprint(n) || item.Version != uint64(n) || item.Key != "n" && item.Key != "shared" {
			m.t.Errorf("key %s is %q in version %d, want %d", item.Key, item.Value, item.Version, n)
		}
	}
	usage, _, err := m.mem.Get(m.t.Context(), "kv-usage", "m")
	want, _ := toolabi.Encode(map[int]int{1: 2, 2: size})
	if err != nil || !bytes.Equal(usage, want) || size != len("n")+len("shared")+2*len(fmt.Sprint(n)) {
		m.t.Errorf("the usage is %x, %v, want %x", usage, err, want)
	}
	named := map[journal.Digest]bool{}
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err != nil {
			m.t.Fatal(err)
		}
		for _, d := range e.Refs {
			if b, err := journal.ReadBlob(m.t.Context(), m.mem, d); err != nil || journal.DigestOf(b) != d {
				m.t.Errorf("entry %d names %s: %v", e.Seq, d.Short(), err)
			}
			if named[d] = true; e.Kind != journal.Result && e.Kind != journal.Created {
				m.t.Errorf("a %s names an artifact", e.Kind)
			}
		}
	}
	for i := range n {
		if !named[journal.DigestOf(report(i+1))] {
			m.t.Errorf("report %d is not an artifact of the run", i+1)
		}
	}
}

// A crash before and after each blob that is stored: what is stored and not named belongs to nobody, and what is named is there.
func TestNoCrashAtABlobLosesAnArtifact(t *testing.T) {
	s := tallies()
	for n := 1; ; n++ {
		done := false
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/after %v", n, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := s.machine(t)
					cut := &cutPut{Mem: m.mem.Handle(), n: n, after: after}
					res, err := m.drive(m.start(func(journaltest.Store) journaltest.Store { return cut }), s.driver)
					if cut.puts < n {
						done = true
						s.check(t, m, res, err)
						return
					}
					if !errors.Is(err, journal.ErrUnusable) {
						t.Fatalf("the crash shows as %v", err)
					}
					res, _, err = m.finish(s.driver)
					s.check(t, m, res, err)
				})
			})
		}
		if done {
			if n < 7 {
				t.Errorf("only %d blobs were stored", n-1)
			}
			return
		}
	}
}

// cutPut is a handle whose process is killed at a blob.
type cutPut struct {
	*journaltest.Mem
	n     int
	after bool
	puts  int
}

func (c *cutPut) Put(ctx context.Context, r io.Reader) (d journal.Digest, n int64, err error) {
	if c.puts++; c.puts == c.n && !c.after {
		c.Kill()
	}
	d, n, err = c.Mem.Put(ctx, r)
	if c.puts == c.n && c.after {
		c.Kill()
		return d, n, journal.ErrUnusable
	}
	return d, n, err
}

// Runs of several processes that write the same keys lose and double nothing: who was slower is answered afresh.
func TestRunsOfManyProcessesShareAStore(t *testing.T) {
	const processes, runs = 4, 5
	m := newMachine(t, map[string]tool{
		"it": func(g *guest, input string) string {
			own := count(g, "own/"+input)
			sure[toolabi.KVPutReply](g, toolabi.FuncKVPut, toolabi.KVPutRequest{Key: "last", Value: []byte(input)})
			return fmt.Sprintf(`"%d %d"`, own, countShared(g, "shared"))
		},
	})
	m.grants = tallyGrants
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			e := m.start(nil)
			for r := range runs {
				run := fmt.Sprintf("r%d-%d", p, r)
				spec, modules := m.spec(`{}`)
				driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
					out := r.CallAll(ctx, []runtime.CallSpec{
						{Step: "a", Tool: "m.it", Input: []byte(`"` + run + `a"`)}, {Step: "b", Tool: "m.it", Input: []byte(`"` + run + `b"`)},
						{Step: "c", Tool: "m.it", Input: []byte(`"` + run + `c"`)},
					})
					return out[0].Output, errors.Join(out[0].Err, out[1].Err, out[2].Err)
				}
				if _, err := e.Start(context.Background(), run, spec, modules, true); err != nil {
					t.Error(err)
				}
				if _, err := e.Drive(context.Background(), run, runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	shared, version, err := m.mem.Get(t.Context(), "kv:m", "shared")
	if want := fmt.Sprint(3 * processes * runs); err != nil || string(shared) != want || fmt.Sprint(version) != want {
		t.Errorf("the shared key is %s in version %d, %v, want %s", shared, version, err, want)
	}
	keys, size := 0, 0
	for item, err := range m.mem.Scan(t.Context(), "kv:m", "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if keys, size = keys+1, size+len(item.Key)+len(item.Value); strings.HasPrefix(item.Key, "own/") && string(item.Value) != "1" {
			t.Errorf("%s is %s", item.Key, item.Value)
		}
	}
	usage, _, _ := m.mem.Get(t.Context(), "kv-usage", "m")
	if want, _ := toolabi.Encode(map[int]int{1: keys, 2: size}); !bytes.Equal(usage, want) || keys != 3*processes*runs+2 {
		t.Errorf("%d keys of %d bytes, the record says %x", keys, size, usage)
	}
}

// A comparison that failed is on the disk before the tool is told, and is the same when the run is gone on with.
func TestAConflictIsAnAnswer(t *testing.T) {
	for _, after := range []bool{false, true} {
		m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
			_, err := call[toolabi.KVPutReply](g, toolabi.FuncKVCAS, toolabi.KVCASRequest{Key: "k", Expect: 5})
			if kept := fmt.Sprint(g.must(toolabi.FuncClock, "")); kept == "" {
				return `""`
			}
			return fmt.Sprintf("%q", fmt.Sprint(errors.Is(err, toolabi.Conflict)))
		}})
		m.grants = tallyGrants
		var at int
		count := func(j journaltest.Store) journaltest.Store {
			return watched{j, func(e journal.Entry) {
				if e.Name == toolabi.FuncKVCAS && e.Kind == journal.Result {
					at++
					if len(e.Writes) != 0 || e.Outcome != journal.Fail {
						t.Errorf("it is recorded as %s with %d writes", e.Outcome, len(e.Writes))
					}
				}
				if e.Name == toolabi.FuncClock && at != 1 {
					t.Error("the tool was told before it was on the disk")
				}
			}}
		}
		p := m.start(count)
		if after {
			p = m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashAfter(j, 2) })
			if _, err := m.drive(p, steps("it")); !errors.Is(err, journal.ErrUnusable) {
				t.Fatalf("the crash shows as %v", err)
			}
			others(t, m.mem, "k", 5) // now it would be another answer
			p = m.start(nil)
		}
		if res, err := m.drive(p, steps("it")); err != nil || string(res.Output) != `["true"]` {
			t.Errorf("after a crash %v: %s, %v", after, res.Output, err)
		}
	}
}

// others writes a key so often.
func others(t *testing.T, m *journaltest.Mem, key string, times int) {
	t.Helper()
	entries := []journal.Entry{{Kind: journal.Created, Name: "d"}}
	for i := range times {
		w := journal.Write{Space: "kv:m", Key: key, Value: []byte("v"), Expect: uint64(i)}
		entries = append(entries, journal.Entry{Kind: journal.Record, Name: "n", Writes: []journal.Write{w}})
	}
	if err := m.Append(t.Context(), "others", 0, entries...); err != nil {
		t.Fatal(err)
	}
}

// watched is a journal that shows what is appended, one append at a time.
type watched struct {
	journaltest.Store
	see func(journal.Entry)
}

func (w watched) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	for _, e := range entries {
		w.see(e)
	}
	return w.Store.Append(ctx, run, at, entries...)
}

// What the journal cannot read of the state of tools ends the run. It is never an answer.
func TestDamagedStateStopsTheRun(t *testing.T) {
	for name, bad := range map[string]badKV{
		"a key": {space: "kv:m", err: journal.ErrDamaged}, "the usage": {space: "kv-usage", err: journal.ErrDamaged},
		"garbage": {space: "kv-usage", value: []byte("garbage")}, "a list": {scan: journal.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
				call[toolabi.KVPutReply](g, toolabi.FuncKVPut, toolabi.KVPutRequest{Key: "k", Value: []byte("v")})
				call[toolabi.KVListReply](g, toolabi.FuncKVList, toolabi.KVListRequest{})
				return `1`
			}})
			m.grants = tallyGrants
			p := m.start(func(j journaltest.Store) journaltest.Store { bad.Store = j; return bad })
			var stopped *runtime.JournalError
			if _, err := m.drive(p, steps("it")); !errors.As(err, &stopped) || !errors.Is(err, journal.ErrDamaged) {
				t.Fatalf("ended with %v", err)
			}
			if res, err := m.drive(m.start(nil), steps("it")); err != nil || string(res.Output) != `[1]` {
				t.Errorf("after the repair: %s, %v", res.Output, err)
			}
		})
	}
}

// badKV is a journal with damage in a space, or in whatever is listed.
type badKV struct {
	journaltest.Store
	space string
	value []byte
	err   error
	scan  error
}

func (b badKV) Get(ctx context.Context, space, key string) ([]byte, uint64, error) {
	if space == b.space {
		return b.value, 1, b.err
	}
	return b.Store.Get(ctx, space, key)
}

func (b badKV) Scan(ctx context.Context, space, prefix, after string) iter.Seq2[journal.Item, error] {
	if b.scan == nil {
		return b.Store.Scan(ctx, space, prefix, after)
	}
	return func(yield func(journal.Item, error) bool) { yield(journal.Item{}, b.scan) }
}

// A full store refuses the next key at once, and what others hold is apart.
func TestAFullStoreRefusesTheNextKey(t *testing.T) {
	m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string {
		refused := 0
		for i := range 50 {
			if _, err := call[toolabi.KVPutReply](g, toolabi.FuncKVPut, toolabi.KVPutRequest{Key: fmt.Sprint("k", i)}); errors.Is(err, toolabi.TooLarge) {
				refused++
			}
		}
		return fmt.Sprint(refused)
	}})
	m.grants = tallyGrants
	usage, _ := toolabi.Encode(map[int]int{1: toolabi.MaxKVKeys - 20, 2: 1 << 20})
	near := journal.Entry{Kind: journal.Record, Name: "n", Writes: []journal.Write{{Space: "kv-usage", Key: "m", Value: usage}}}
	if err := m.mem.Append(t.Context(), "others", 0, journal.Entry{Kind: journal.Created, Name: "d"}, near); err != nil {
		t.Fatal(err)
	}
	if res, err := m.drive(m.start(nil), steps("it")); err != nil || string(res.Output) != `[30]` {
		t.Errorf("refused %s, %v, want 30", res.Output, err)
	}
}

// A put is under no key that a provider has to remember, so no time ends what may be done again of it.
func TestAnArtifactIsPutAgainAfterAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"keyed": func(g *guest, _ string) string {
			return `"` + sure[toolabi.ArtifactPutReply](g, toolabi.FuncArtifactPut, toolabi.ArtifactPutRequest{Body: []byte("b")}).Artifact + `"`
		}})
		m.grants = tallyGrants
		m.declare = func(t *toolabi.Tool) { t.KeyTTLMS = 1000 }
		p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashAfter(j, 2) })
		if _, err := m.drive(p, steps("keyed")); !errors.Is(err, journal.ErrUnusable) {
			t.Fatalf("the crash shows as %v", err)
		}
		if past := m.intents()["s1/1"]; past.Name != toolabi.FuncArtifactPut {
			t.Fatalf("the log says %v", m.log())
		}
		later := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Now = func() time.Time { return time.Now().AddDate(1, 0, 0) } })
		if res, err := m.drive(later, steps("keyed")); err != nil || string(res.Output) != `["`+digestOf("b")+`"]` {
			t.Errorf("%s, %v", res.Output, err)
		}
	})
}

// apart is a journal that is wrong: it makes the writes of entries in a transaction of their own, and the entries after it.
type apart struct{ journaltest.Store }

func (a apart) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	var writes []journal.Write
	for i := range entries {
		writes, entries[i].Writes = append(writes, entries[i].Writes...), nil
	}
	if len(writes) > 0 {
		kept := journal.Entry{Kind: journal.Record, Name: "n", Writes: writes}
		if err := a.Store.Append(ctx, fmt.Sprintf("apart-%d", at), 0, journal.Entry{Kind: journal.Created, Name: "d"}, kept); err != nil {
			return err
		}
	}
	return a.Store.Append(ctx, run, at, entries...)
}

// The sweep over all crash points would see a write that is made beside its entry: after some crash it is made twice.
func TestAWriteApartFromItsEntryIsSeen(t *testing.T) {
	twice := 0
	for n := 1; n < 40; n++ {
		m := newMachine(t, map[string]tool{"it": func(g *guest, _ string) string { return fmt.Sprint(countShared(g, "shared")) }})
		m.grants = tallyGrants
		var cut *journaltest.Crasher
		m.drive(m.start(func(j journaltest.Store) journaltest.Store {
			cut = journaltest.CrashBefore(j, n)
			return apart{cut}
		}), steps("it", "it"))
		if !cut.Crashed() {
			break
		}
		if _, err := m.drive(m.start(nil), steps("it", "it")); err != nil {
			t.Fatal(err)
		}
		if v, _, _ := m.mem.Get(t.Context(), "kv:m", "shared"); string(v) != "2" {
			twice++
		}
	}
	if twice != 2 { // once for each step
		t.Errorf("the write was made twice after %d crashes, want 2", twice)
	}
}
