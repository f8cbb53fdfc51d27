// Package wrun runs tools as WebAssembly modules that can touch only what they were granted, and writes down in a
// journal what is about to happen and what came of it. After a crash a run is resumed: recorded results are served
// instead of entering the module again, and where nobody can know whether an effect took place, the run says so and
// waits.
//
// This package joins the parts for programs that embed them: a journal in one file, the sandbox and the standard host
// functions. It adds no behaviour of its own; package runtime is the engine, and package journal says what a log is.
package wrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// Config says where things are. Journal is mandatory, every other field has a default.
type Config struct {
	// Journal is the path of the journal's file. Beside it lie its blobs and its locks.
	Journal string
	// Create makes the journal when it is not there.
	Create bool
	// BusyTimeout, OnWait, NoMigrate and OnMigrate are those of boltdb.Options: how long another process may hold the journal, who is
	// told when it does, and what becomes of a file of an older schema.
	BusyTimeout time.Duration
	OnWait      func(time.Duration)
	NoMigrate   bool
	OnMigrate   func(boltdb.Migration)
	// Cache is a directory for compiled modules, "" for none. What is in it is executed, so it must be the user's alone;
	// it is created with mode 0700.
	Cache string
	// Compiler says how modules are compiled that are not in the cache; its zero value compiles them in this process.
	Compiler Compiler
	// MemoryBudget is how much memory all calls together may hold, in bytes; 0 as sandbox.Config says. Calls that do not fit
	// wait for others to end. Calls that began in another journal, and are replayed or gone on with here, may hold as much again.
	MemoryBudget uint64
	// HTTP says how http_fetch and http_send reach the network.
	HTTP hostfuncs.Config
	// Secrets reads the values of secrets; nil means hostfuncs.ReadSecret. A vault in HTTP takes its place.
	Secrets hostfuncs.SecretReader
	// Drivers are the drivers that runs can be resumed with by their id alone.
	Drivers map[string]runtime.DriverInfo
	// Policy decides whether a call may begin; nil leaves it to the manifests.
	Policy runtime.Policy
	// RunQuota and JournalQuota are those of runtime.Config, in bytes; 0 means none.
	RunQuota, JournalQuota int64
	// Observe is told of each step as it is served, begun and ended, and of each run as it is claimed and let go of. It is called
	// concurrently and must return at once.
	Observe func(runtime.Event)
	// Instances says how a call gets its clean instance: from a pool, by default.
	Instances sandbox.Instances
	// OnCompile is told when a module that is not in the cache is compiled, which takes seconds.
	OnCompile func(sandbox.CompileEvent)
	// Rescue is given a reply that came and could not be recorded, so that it is not lost. nil saves it in a file beside the journal,
	// or else in the system's directory for temporary files, and what drives the run returns a *runtime.UnrecordedError.
	Rescue func(run string, step journal.Step, reply []byte)
}

// Compiler is a command that compiles modules in a process of its own, and what that may take.
type Compiler struct {
	// Command is a program with its arguments that calls sandbox.CompilerMain.
	Command []string
	// Timeout and Memory, in bytes, bound the compilation of one module. Defaults 60 s and 2 GiB.
	Timeout time.Duration
	Memory  uint64
}

// Host is an open journal with everything that its runs need. It may be used concurrently, and other processes may use
// the same journal at the same time.
type Host struct {
	journal *boltdb.Journal
	sandbox *sandbox.Sandbox
	engine  *runtime.Engine
	inside  sandbox.Config // of sandbox
	places  places
	dir     string // removed by Close; "" for none

	mu       sync.Mutex
	modules  map[toolabi.Digest][]byte // guarded by mu: added, perhaps not yet stored
	unpacked map[string]journal.Digest // guarded by mu: runs as they were in a bundle, and the journals that they are from
}

// Open opens a journal and what belongs to it. The caller closes it.
//
// Errors: journal.ErrNoJournal when it is not there and Create is not set; journal.ErrForeign, ErrDamaged, ErrNewer,
// ErrOlder and ErrBusy as boltdb.Open says.
func Open(ctx context.Context, cfg Config) (*Host, error) {
	if cfg.Journal == "" {
		return nil, errors.New("wrun: Config.Journal is missing")
	}
	open := boltdb.Open
	if cfg.Create {
		open = boltdb.Create
	}
	j, err := open(ctx, cfg.Journal, boltdb.Options{BusyTimeout: cfg.BusyTimeout, OnWait: cfg.OnWait, NoMigrate: cfg.NoMigrate, OnMigrate: cfg.OnMigrate})
	if err != nil {
		return nil, err
	}
	h := &Host{journal: j, modules: map[toolabi.Digest][]byte{}, unpacked: map[string]journal.Digest{}}
	if err := h.join(ctx, cfg); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) join(ctx context.Context, cfg Config) error {
	id, err := h.journal.ID()
	if err != nil {
		return err
	}
	h.inside = sandbox.Config{
		Source: h.module, CacheDir: cfg.Cache, Seed: id, OnCompile: cfg.OnCompile, MemoryBudget: cfg.MemoryBudget, Instances: cfg.Instances,
		Compiler: cfg.Compiler.Command, CompileTimeout: cfg.Compiler.Timeout, CompileMemory: cfg.Compiler.Memory,
	}
	if h.sandbox, err = sandbox.New(ctx, h.inside); err != nil {
		return err
	}
	if cfg.HTTP.Secrets == nil {
		cfg.HTTP.Secrets = hostfuncs.NewVault(cfg.Secrets)
	}
	h.engine, err = runtime.New(runtime.Config{
		Journal: h.journal, Invoker: h.sandbox, Elsewhere: h.inJournal, Funcs: hostfuncs.Standard(cfg.HTTP), Secrets: cfg.HTTP.Secrets,
		Drivers: cfg.Drivers, Policy: cfg.Policy, Observe: cfg.Observe, Rescue: cfg.Rescue,
		RescueDir: filepath.Dir(h.journal.Path()), RunQuota: cfg.RunQuota, JournalQuota: cfg.JournalQuota,
	})
	return err
}

// Close ends the use of the journal. Runs that are being driven must have ended.
func (h *Host) Close() error {
	var errs []error
	if h.sandbox != nil {
		errs = append(errs, h.places.close(), h.sandbox.Close(context.Background()))
	}
	errs = append(errs, h.journal.Close())
	if h.dir != "" {
		errs = append(errs, os.RemoveAll(h.dir))
	}
	return errors.Join(errs...)
}

// CheckModule judges a module without running any of it: its structure, its imports, its manifest, and what that asks for. Errors:
// *sandbox.LoadError.
func CheckModule(wasm []byte) (*sandbox.Module, error) {
	m, err := sandbox.Inspect(wasm)
	if err != nil {
		return nil, err
	}
	if err := checkManifest(m.Manifest); err != nil {
		return nil, err
	}
	return m, nil
}

// checkManifest judges what a manifest asks for.
func checkManifest(m *toolabi.Manifest) error {
	for _, c := range m.Capabilities {
		if err := hostfuncs.CheckTargets(c); err != nil {
			return &sandbox.LoadError{Kind: sandbox.BadManifest, Err: err}
		}
	}
	for _, t := range m.Tools {
		for what, schema := range map[string]toolabi.RawJSON{"input": t.Input, "output": t.Output} {
			if len(schema) == 0 {
				continue
			}
			if err := runtime.CheckSchema(schema); err != nil {
				return &sandbox.LoadError{Kind: sandbox.BadManifest, Err: fmt.Errorf("tool %s: %s schema: %w", t.Name, what, err)}
			}
		}
	}
	return nil
}

// AddModule judges a module as CheckModule does and makes it known, so that runs can be started with it. It is stored with the
// first run that names it, and must not be changed. Errors: *sandbox.LoadError.
func (h *Host) AddModule(wasm []byte) (runtime.Module, error) {
	m, err := sandbox.InspectCached(wasm, h.inside.CacheDir)
	if err != nil {
		return runtime.Module{}, err
	}
	return h.AddInspected(m)
}

// AddInspected is AddModule for a module that sandbox.Inspect or InspectCached took, which is not read again.
func (h *Host) AddInspected(m *sandbox.Module) (runtime.Module, error) {
	if m.Bytes() == nil {
		return runtime.Module{}, errors.New("wrun: AddInspected was given a module that was refused")
	}
	if err := checkManifest(m.Manifest); err != nil {
		return runtime.Module{}, err
	}
	h.sandbox.Add(m)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.modules[m.Digest] = m.Bytes()
	return runtime.Module{Name: m.Manifest.Name, Digest: m.Digest, Manifest: *m.Manifest}, nil
}

// Prepare compiles a module that was added, so that what only a compiler finds is said before there is a run of it. Errors:
// *sandbox.LoadError; the cause of ctx's end.
func (h *Host) Prepare(ctx context.Context, m runtime.Module) error {
	return h.sandbox.Prepare(ctx, m.Digest)
}

// module returns a module's bytes: added to this host, or stored by whoever started a run with it.
func (h *Host) module(ctx context.Context, d toolabi.Digest) ([]byte, error) {
	h.mu.Lock()
	wasm, ok := h.modules[d]
	h.mu.Unlock()
	if ok {
		return wasm, nil
	}
	wasm, err := journal.ReadBlob(ctx, h.journal, journal.Digest(d))
	if errors.Is(err, journal.ErrNotFound) { // a run names it, so it was there
		return nil, fmt.Errorf("%w: the module with digest %s is gone from the journal's blobs", journal.ErrDamaged, d)
	}
	return wasm, err
}

// Start writes the first entry of a run whose modules were added. A run of this id that is made of the same is fine:
// begun is false. Errors: *runtime.OtherRunError, and as runtime.Engine.Start says.
//
// A run that is only started waits until somebody drives it: this program, another one, or Work.
func (h *Host) Start(ctx context.Context, run string, spec runtime.Spec) (begun bool, err error) {
	return h.engine.Start(ctx, run, spec, h.bytesOf(spec), false)
}

// Run starts a run, or attaches to the one of this id that is made of the same, and drives it. Grants of spec that an
// existing run does not have are added to it, and so are labels. Errors: as Start and Drive say.
func (h *Host) Run(ctx context.Context, run string, spec runtime.Spec, opts runtime.DriveOptions) (runtime.Result, error) {
	begun, err := h.engine.Start(ctx, run, spec, h.bytesOf(spec), true)
	if err != nil {
		return runtime.Result{}, err
	}
	if !begun {
		if err := opts.Grants.Conflict(spec.Grants); err != nil {
			return runtime.Result{}, err
		}
		opts.Grants = opts.Grants.Union(spec.Grants)
		if len(spec.Labels) > 0 {
			if err := h.engine.Label(ctx, run, opts.By, spec.Labels); err != nil {
				return runtime.Result{}, err
			}
		}
	}
	return h.engine.Drive(ctx, run, opts)
}

// bytesOf returns the modules of a run that were added.
func (h *Host) bytesOf(spec runtime.Spec) map[toolabi.Digest][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	modules := make(map[toolabi.Digest][]byte, len(spec.Modules))
	for _, m := range spec.Modules {
		if wasm, ok := h.modules[m.Digest]; ok {
			modules[m.Digest] = wasm
		}
	}
	return modules
}

// Drive goes on with a run until it is finished or has to wait. See runtime.Engine.Drive for what is returned.
func (h *Host) Drive(ctx context.Context, run string, opts runtime.DriveOptions) (runtime.Result, error) {
	return h.engine.Drive(ctx, run, opts)
}

// Resume goes on with a run by its id alone, with the driver, the modules and the grants that it began with.
func (h *Host) Resume(ctx context.Context, run string) (runtime.Result, error) {
	return h.engine.Drive(ctx, run, runtime.DriveOptions{})
}

// Work drives every run that can go on by itself. See runtime.Engine.Work.
func (h *Host) Work(ctx context.Context, report func(run string, res runtime.Result, err error) bool) error {
	return h.engine.Work(ctx, report)
}

// Resolve settles an effect whose outcome is unknown. See runtime.Engine.Resolve.
func (h *Host) Resolve(ctx context.Context, run string, step journal.Step, res runtime.Resolution) error {
	return h.engine.Resolve(ctx, run, step, res)
}

// ParseReply makes the reply of a host function of what somebody says, in JSON, that it answered. For a function without such
// a form, and for a driver's own step, the reply is what was said.
func (h *Host) ParseReply(function string, said []byte) ([]byte, error) {
	return h.engine.ParseReply(function, said)
}

// Answer answers a step that waits for a person. See runtime.Engine.Answer.
func (h *Host) Answer(ctx context.Context, run string, step journal.Step, a runtime.Answer) error {
	return h.engine.Answer(ctx, run, step, a)
}

// Inbox yields what waits for a person. See runtime.Engine.Inbox.
func (h *Host) Inbox(ctx context.Context) iter.Seq2[runtime.Item, error] { return h.engine.Inbox(ctx) }

// InboxOf returns what waits for a person in one run. Errors: journal.ErrNotFound.
func (h *Host) InboxOf(ctx context.Context, run string) ([]runtime.Item, error) {
	return h.engine.InboxOf(ctx, run)
}

// Await returns when a suspended run can go on. See runtime.Engine.Await.
func (h *Host) Await(ctx context.Context, run string) error { return h.engine.Await(ctx, run) }

// Rest returns once a run has ended or needs somebody; see runtime.Engine.Rest.
func (h *Host) Rest(ctx context.Context, run string, idle func()) (runtime.Result, error) {
	return h.engine.Rest(ctx, run, idle)
}

// Reconcile asks the look-ups of a run's tools about what is in doubt. See runtime.Engine.Reconcile.
func (h *Host) Reconcile(ctx context.Context, run string) ([]runtime.Finding, error) {
	return h.engine.Reconcile(ctx, run)
}

// PlanFork says what Fork would take and what it would do again. See runtime.Engine.PlanFork.
func (h *Host) PlanFork(ctx context.Context, run string, at journal.Step) (runtime.Fork, error) {
	return h.engine.PlanFork(ctx, run, at)
}

// Fork copies a run up to a step under another id. See runtime.Engine.Fork.
func (h *Host) Fork(ctx context.Context, run string, at journal.Step, id, by, why string) (runtime.Fork, error) {
	return h.engine.Fork(ctx, run, at, id, by, why)
}

// Rollback begins the run that undoes another one. See runtime.Engine.Rollback.
func (h *Host) Rollback(ctx context.Context, run, by, why string) (left []runtime.Effect, err error) {
	return h.engine.Rollback(ctx, run, by, why)
}

// Abandon closes a run although effects of it are in doubt. See runtime.Engine.Abandon.
func (h *Host) Abandon(ctx context.Context, run, by, why string) error {
	return h.engine.Abandon(ctx, run, by, why)
}

// Confirm says that a run which was restored from a backup may go on. See runtime.Engine.Confirm.
func (h *Host) Confirm(ctx context.Context, run, by, why string) error {
	return h.engine.Confirm(ctx, run, by, why)
}

// Acknowledge says that somebody has looked at outcomes that arrived too late to count. See
// runtime.Engine.Acknowledge.
func (h *Host) Acknowledge(ctx context.Context, run, by, note string) error {
	return h.engine.Acknowledge(ctx, run, by, note)
}

// Label gives a run labels, and takes some away; see runtime.Engine.Label.
func (h *Host) Label(ctx context.Context, run, by string, set map[string]string, remove ...string) error {
	return h.engine.Label(ctx, run, by, set, remove...)
}

// Cancel says that a run starts no further step. See runtime.Engine.Cancel.
func (h *Host) Cancel(ctx context.Context, run, by, note string) error {
	return h.engine.Cancel(ctx, run, by, note)
}

// Artifacts returns the artifacts of a run. See runtime.Engine.Artifacts.
func (h *Host) Artifacts(ctx context.Context, run string) ([]runtime.Artifact, error) {
	return h.engine.Artifacts(ctx, run)
}

// OpenArtifact returns the bytes of an artifact of a run, and how many they are. See runtime.Engine.OpenArtifact.
func (h *Host) OpenArtifact(ctx context.Context, run string, d toolabi.Digest) (io.ReadCloser, int64, error) {
	return h.engine.OpenArtifact(ctx, run, d)
}

// Watch yields the entries of a run as they are appended, by whatever process, and ends with the run.
func (h *Host) Watch(ctx context.Context, run string) iter.Seq2[journal.Entry, error] {
	return h.WatchFrom(ctx, run, 0)
}

// WatchFrom is Watch from an entry on.
func (h *Host) WatchFrom(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return h.engine.Watch(ctx, run, from)
}

// Spec returns what a run is made of. Errors: journal.ErrNotFound.
func (h *Host) Spec(ctx context.Context, run string) (*runtime.Spec, error) {
	return h.engine.Spec(ctx, run)
}

// WriteFiles writes the files of a run, as its log has them, into a directory that is empty or not there, without driving the
// run; dir is absolute and clean. Errors: journal.ErrNotFound, journal.ErrDamaged, *runtime.DirError.
func (h *Host) WriteFiles(ctx context.Context, run, dir string) ([]runtime.File, error) {
	return h.engine.WriteFiles(ctx, run, dir)
}

// CanGoOn says whether a run can be driven further now, as runtime.Engine.CanGoOn does.
func (h *Host) CanGoOn(s *journal.State) bool { return h.engine.CanGoOn(s) }

// WaitsForPerson says whether a run has something for a person to say, as runtime.Engine.WaitsForPerson does.
func (h *Host) WaitsForPerson(s *journal.State) bool { return h.engine.WaitsForPerson(s) }

// Status returns a run's status, with what is known of the process that drives it.
func (h *Host) Status(s *journal.State) journal.Status { return h.engine.Status(s) }

// Backup writes the whole journal to w as one bundle, while it is used. See boltdb.Journal.Backup; boltdb.Restore puts it back.
func (h *Host) Backup(ctx context.Context, w io.Writer, opts boltdb.CopyOptions) (bundle.Counts, error) {
	return h.journal.Backup(ctx, w, opts)
}

// Compact gives back what is free in the journal's file, while it is used. See boltdb.Journal.Compact.
func (h *Host) Compact(ctx context.Context, opts boltdb.CopyOptions) (boltdb.Compacted, error) {
	return h.journal.Compact(ctx, opts)
}

// Export writes one run to w as a bundle. See boltdb.Journal.Export.
func (h *Host) Export(ctx context.Context, run string, w io.Writer, opts boltdb.CopyOptions) (bundle.Counts, error) {
	return h.journal.Export(ctx, run, w, opts)
}

// Import takes a run from a bundle. See boltdb.Journal.Import.
func (h *Host) Import(ctx context.Context, r io.Reader, opts boltdb.ImportOptions) (boltdb.Imported, error) {
	done, err := h.journal.Import(ctx, r, opts)
	if err == nil && opts.Plain {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.unpacked[done.Run] = done.From
	}
	return done, err
}

// Journal returns the journal, for reading.
func (h *Host) Journal() journal.Journal { return h.journal }

// Space returns what the journal takes on the disk; see boltdb.Journal.Space.
func (h *Host) Space(ctx context.Context) (boltdb.Space, error) { return h.journal.Space(ctx) }

// Removed yields what is kept of runs that were removed and come behind after, by run id.
func (h *Host) Removed(ctx context.Context, after string) iter.Seq2[journal.Removed, error] {
	return h.journal.Removed(ctx, after)
}

// Collect removes what nobody needs any more; see boltdb.Journal.Collect.
func (h *Host) Collect(ctx context.Context, opts boltdb.CollectOptions) (boltdb.Collected, error) {
	return h.journal.Collect(ctx, opts)
}

// Body returns an entry's body, also when it is a blob.
func (h *Host) Body(ctx context.Context, e journal.Entry) ([]byte, error) {
	return journal.Body(ctx, h.journal, e)
}
