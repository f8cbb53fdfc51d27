// Command soak kills wrun in the middle of what it does, hundreds of times, and fails unless every charge was made once
// and everything that was recorded stayed recorded. Package trials says how.
//
//	go run ./internal/soak -kills 1000
//	go run ./internal/soak -kills 200 -provider all
//
// With -agents the runs are those of agents, and every bill of the model's provider has to be an answer in the log or in doubt
// there as well. Package agents says how.
//
//	go run ./internal/soak -agents 500
//
// With -tier it makes every fault that docs/reliability.md lists, in the numbers of that tier or a share of them, and prints the
// table of what came of them. Package faults says how.
//
//	go run ./internal/soak -tier 1
//	go run ./internal/soak -tier 1 -share 0.01
//	go run ./internal/soak -tier 1 -only 'power cut'
//
// With -mixed it puts itself under load instead, and fails when a call comes to something else than it has to, or when memory,
// mappings, descriptors or goroutines grow. Package mixed says how.
//
//	go run ./internal/soak -mixed 1h
//	go run ./internal/soak -mixed 1h -mixed-load 0.5
//
// With -big it makes a journal of so many entries and measures what one run costs in it. Package big says how.
//
//	go run ./internal/soak -big 10000000
//
// With -crowd many processes use one journal at once, are killed at random, and everything that they have said is held against it
// at the end. Package crowd says how.
//
//	go run ./internal/soak -crowd 10m
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/agents"
	"github.com/wrun-dev/wrun/internal/soak/big"
	"github.com/wrun-dev/wrun/internal/soak/crowd"
	"github.com/wrun-dev/wrun/internal/soak/faults"
	"github.com/wrun-dev/wrun/internal/soak/mixed"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

func main() {
	cfg := trials.Config{Progress: os.Stderr}
	flag.IntVar(&cfg.Kills, "kills", 1000, "how many processes to kill")
	flag.Uint64Var(&cfg.Seed, "seed", rand.Uint64(), "what chance is drawn from")
	flag.StringVar(&cfg.Dir, "dir", "", "an empty directory for journal and ledgers, kept; none means a temporary one, kept when something disagrees")
	flag.IntVar(&cfg.Workers, "workers", 0, "how many trials go on at once; 0 means 2, and 6 where most of the time is spent waiting")
	provider := flag.String("provider", "mixed", "how the ledger behaves: "+strings.Join(trials.Providers(), ", ")+", or all of them, one after the other")
	tags := flag.String("tags", "", "build tags of wrun, such as broken_nointent, with which the soak has to fail")
	thinking := flag.Int("agents", 0, "how many processes of agents to kill, instead of those of plans")
	load := mixed.Config{Progress: os.Stderr}
	flag.DurationVar(&load.Duration, "mixed", 0, "put this process under load for so long, and kill nothing")
	flag.Float64Var(&load.Load, "mixed-load", 1, "the share of the machine that -mixed uses")
	flag.DurationVar(&load.Every, "mixed-every", 10*time.Second, "how often -mixed prints a line")
	flag.IntVar(&load.Cycles, "mixed-cycles", 0, "how often -mixed goes through its phases; 0 means once in three minutes, and at least 8 times")
	entries := flag.Int("big", 0, "make a journal of so many entries, and measure")
	many := crowd.Config{Progress: os.Stderr}
	flag.DurationVar(&many.Duration, "crowd", 0, "let many processes use one journal for so long")
	flag.IntVar(&many.Processes, "crowd-processes", 8, "how many processes -crowd has at once")
	flag.DurationVar(&many.MaxWait, "crowd-wait", 5*time.Second, "how long one of them may wait for another that is alive")
	var tier faults.Config
	flag.IntVar(&tier.Tier, "tier", 0, "make every fault, in the numbers of tier 1 or 2")
	flag.Float64Var(&tier.Share, "share", 1, "the share of a tier that is made")
	flag.StringVar(&tier.Only, "only", "", "of a tier only the faults with this in their name, or controls")
	flag.Parse()
	load.Seed, tier.Seed = cfg.Seed, cfg.Seed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	switch {
	case load.Duration != 0:
		err = underLoad(ctx, load)
	case *entries > 0:
		err = ofSize(ctx, cfg, *entries)
	case runtime.GOOS == "windows":
		fmt.Fprintln(os.Stderr, "soak: SKIPPED, nothing was tested: windows has no kill -9")
	case many.Duration > 0:
		many.Seed = cfg.Seed
		err = ofCrowd(ctx, many, cfg.Dir, *tags)
	case tier.Tier != 0:
		tier.Workers, tier.Tags, tier.Progress = cfg.Workers, *tags, cfg.Progress
		err = ofFaults(ctx, tier, cfg.Dir)
	case *thinking > 0:
		err = ofAgents(ctx, cfg, *thinking, *tags)
	default:
		err = ofPlans(ctx, cfg, *provider, *tags)
	}
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: seed %d: %v\n", cfg.Seed, err)
		os.Exit(1)
	}
}

// underLoad puts this process under load and says what has grown.
func underLoad(ctx context.Context, cfg mixed.Config) error {
	report, err := mixed.Run(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Print(report)
	return report.Err()
}

func ofPlans(ctx context.Context, cfg trials.Config, provider, tags string) error {
	names := trials.Providers()
	if provider != "all" {
		if !slices.Contains(names, provider) {
			return fmt.Errorf("-provider %s is none of %s, all", provider, strings.Join(names, ", "))
		}
		names = []string{provider}
	}
	return inDir(ctx, cfg.Dir, tags, func(dir string) (err error) {
		cfg.Dir = dir
		for _, name := range names {
			err = errors.Join(err, against(ctx, cfg, name))
		}
		return err
	})
}

// ofAgents kills agents, with what the flags say of all trials.
func ofAgents(ctx context.Context, cfg trials.Config, kills int, tags string) error {
	return inDir(ctx, cfg.Dir, tags, func(dir string) error {
		report, err := agents.Run(ctx, agents.Config{
			Kills: kills, Seed: cfg.Seed, Wrun: filepath.Join(dir, "wrun"), Tool: filepath.Join(dir, "payments.wasm"), Dir: filepath.Join(dir, "agents"),
			Workers: cfg.Workers, Progress: cfg.Progress,
		})
		fmt.Println(report)
		return errors.Join(err, report.Err())
	})
}

// ofSize makes a large journal.
func ofSize(ctx context.Context, cfg trials.Config, entries int) error {
	return inDir(ctx, cfg.Dir, "", func(dir string) error {
		wrun := filepath.Join(dir, "wrun")
		tool, err := trials.Tool(ctx, wrun, "text", dir)
		if err != nil {
			return err
		}
		own := filepath.Join(dir, "big")
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		report, err := big.Run(ctx, big.Config{
			Entries: entries, Wrun: wrun, Tool: tool, Dir: own, Progress: cfg.Progress,
		})
		fmt.Print(report)
		return err
	})
}

// ofCrowd lets many processes use one journal.
func ofCrowd(ctx context.Context, cfg crowd.Config, dir, tags string) error {
	return inDir(ctx, dir, tags, func(dir string) error {
		cfg.Wrun, cfg.Tool = filepath.Join(dir, "wrun"), filepath.Join(dir, "payments.wasm")
		cfg.Cache, cfg.Dir = filepath.Join(dir, "cache"), filepath.Join(dir, "crowd")
		if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
			return err
		}
		report, err := crowd.Run(ctx, cfg)
		fmt.Println(report)
		return errors.Join(err, report.Err())
	})
}

// ofFaults makes a tier's faults, and keeps what it made when something disagrees or a directory is named.
func ofFaults(ctx context.Context, cfg faults.Config, dir string) (err error) {
	if cfg.Tier != 1 && cfg.Tier != 2 || cfg.Share <= 0 || cfg.Share > 1 {
		return errors.New("want -tier 1 or 2, and a -share over 0 and up to 1")
	}
	keep := dir != ""
	if cfg.Dir = dir; !keep {
		if cfg.Dir, err = os.MkdirTemp("", "wrun-faults-"); err != nil {
			return err
		}
	}
	report, err := faults.Run(ctx, cfg)
	fmt.Println(report)
	if err = errors.Join(err, report.Err()); err != nil || keep {
		fmt.Fprintf(os.Stderr, "what was made is kept in %s\n", cfg.Dir)
		return err
	}
	return os.RemoveAll(cfg.Dir)
}

// inDir builds wrun and the tool into a directory, lets trials be made there, and removes it unless it was named or something
// disagrees.
func inDir(ctx context.Context, dir, tags string, make func(dir string) error) (err error) {
	keep := dir != ""
	if keep {
		err = os.MkdirAll(dir, 0o700)
	} else {
		dir, err = os.MkdirTemp("", "wrun-soak-")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "building, in %s\n", dir)
	if err := trials.Build(ctx, dir, tags); err != nil {
		return err
	}
	if err = make(dir); err != nil || keep {
		fmt.Fprintf(os.Stderr, "everything is kept in %s\n", dir)
		return err
	}
	return os.RemoveAll(dir)
}

// against makes all trials against one provider, in a directory of its own.
func against(ctx context.Context, cfg trials.Config, provider string) error {
	cfg.Wrun, cfg.Tool = filepath.Join(cfg.Dir, "wrun"), filepath.Join(cfg.Dir, "payments.wasm")
	cfg.Cache = filepath.Join(cfg.Dir, "cache")
	cfg.Provider, cfg.Dir = provider, filepath.Join(cfg.Dir, provider)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return err
	}
	report, err := trials.Run(ctx, cfg)
	fmt.Println(report)
	if err = errors.Join(err, report.Err()); err != nil {
		return fmt.Errorf("provider %s: %w", provider, err)
	}
	return nil
}
