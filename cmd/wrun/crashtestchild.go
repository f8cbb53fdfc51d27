package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/drivers/rollback"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// crashtestChild is the verb by which crashtest starts the processes that it kills.
const crashtestChild = "crashtest-child"

func newCrashtestChild(a *app) *cobra.Command {
	var flags crashtestFlags
	c := &cobra.Command{
		Use:    crashtestChild + " PLAN.yaml|AGENT.yaml [TASK]",
		Short:  "Go on with a run until a place to die, for another process of wrun",
		Hidden: true,
		Args:   cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			talk := crashtest.NewTalk(a.in, a.out)
			job, err := talk.Job()
			if err != nil {
				return err
			}
			end, err := a.crashtestLife(c.Context(), job, talk, func() (*crashtestSubject, error) {
				return a.crashtestSubject(c, args, &flags, a.chooseModel)
			})
			if err != nil {
				return err
			}
			return talk.Ends(end)
		},
	}
	flags.add(c)
	return c
}

// crashtestLife is the life of one process. It is wrun.Open with the journal watched, the world in the place of the network, and a
// clock that can jump.
func (a *app) crashtestLife(ctx context.Context, job crashtest.Job, talk *crashtest.Talk, read func() (*crashtestSubject, error)) (end crashtest.End, err error) {
	db, err := boltdb.Create(ctx, filepath.Join(job.Dir, "journal.db"), boltdb.Options{BusyTimeout: a.lockTimeout})
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	life := crashtest.Life{
		Clock: world.NewClock(job.Clock), Approvals: job.Approvals, Ask: talk.Ask,
		Store: crashtest.Watch(db, job.Kill, func(at crashtest.Place) error {
			if err := talk.Dies(at); err != nil {
				return err
			}
			crashtest.KillSelf()
			return nil
		}),
	}
	compiler, err := compilerCommand()
	if err != nil {
		return end, err
	}
	id, err := db.ID()
	if err != nil {
		return end, err
	}
	var begun *crashtestSubject // nil in a process that goes on with the run
	box, err := sandbox.New(ctx, sandbox.Config{
		Source: func(ctx context.Context, d toolabi.Digest) ([]byte, error) {
			if wasm, ok := begun.bytes()[d]; ok {
				return wasm, nil
			}
			return journal.ReadBlob(ctx, db, journal.Digest(d))
		},
		CacheDir: cacheDir(), Seed: id, MemoryBudget: uint64(a.memoryBudget),
		Compiler: compiler.Command, CompileTimeout: compiler.Timeout, CompileMemory: compiler.Memory,
	})
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, box.Close(context.WithoutCancel(ctx))) }()
	net, err := world.Dial(job.World)
	if err != nil {
		return end, err
	}
	net.Now = life.Clock.Now
	life.Engine, err = runtime.New(life.Config(runtime.Config{
		Invoker: box, Funcs: life.Store.Funcs(hostfuncs.Standard(net)), Secrets: net.Secrets, Drivers: a.watchedDrivers(life.Store, net.Secrets),
		RescueDir: job.Dir,
	}))
	if err != nil {
		return end, err
	}
	life.Begin = func(ctx context.Context) error {
		if begun, err = read(); err != nil {
			return err
		}
		spec, err := begun.spec(job)
		if err != nil {
			return err
		}
		_, err = life.Engine.Start(ctx, crashtest.Run, spec, begun.bytes(), true)
		return err
	}
	if job.Model != "" {
		life.Twice = func(ctx context.Context) ([]string, error) { return crashtest.PaidTwice(ctx, life.Engine, db) }
	}
	if end, err = life.Go(ctx); err == nil {
		end.Files, err = crashtest.FileDigests(crashtest.Workspace(job.Dir))
	}
	return end, err
}

// watchedDrivers are the drivers, with what a model is paid for watched.
func (a *app) watchedDrivers(w *crashtest.Watched, vault *hostfuncs.Vault) map[string]runtime.DriverInfo {
	connect := a.connect(vault)
	return map[string]runtime.DriverInfo{
		plan.Name: plan.Driver(), runtime.RollbackDriver: rollback.Driver(),
		agent.Name: agent.Driver(agent.Config{Connect: func(ctx context.Context, m agent.Model) (model.Client, error) {
			c, err := connect(ctx, m)
			if err != nil {
				return nil, err
			}
			return w.Model(c), nil
		}}),
	}
}
