// Command explore drives the real engine through interleavings of processes, faults and people's answers, in a simulated
// world, and fails when one breaks a promise. Package interleave says how.
//
//	go run ./internal/explore -runs 100000
//	go run ./internal/explore -seed 4711 -runs 1
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/explore/interleave"
)

func main() {
	cfg := interleave.Config{Step: 1}
	flag.Uint64Var(&cfg.Seed, "seed", rand.Uint64N(1<<48), "the first seed; each interleaving has the one after")
	flag.IntVar(&cfg.Runs, "runs", 100_000, "how many interleavings to explore")
	workers := flag.Int("workers", runtime.NumCPU(), "how many processes explore; each has one thread for Go, so that a seed repeats")
	worker := flag.Int("worker", -1, "which of them this process is; -1: none, it starts them")
	flag.Parse()
	if *worker >= 0 {
		explore(cfg, *worker)
		return
	}
	if err := share(cfg, *workers); err != nil {
		fmt.Fprintf(os.Stderr, "explore: seed %d, %d runs: %v\n", cfg.Seed, cfg.Runs, err)
		os.Exit(1)
	}
}

// share starts the workers and adds up what they found.
func share(cfg interleave.Config, workers int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("seed %d, %d interleavings, %d workers\n", cfg.Seed, cfg.Runs, workers)
	outs, errs := make([]strings.Builder, workers), make(chan error, workers)
	for i := range workers {
		runs := (cfg.Runs + workers - 1 - i) / workers
		cmd := exec.Command(self, "-worker", strconv.Itoa(i), "-workers", strconv.Itoa(workers),
			"-seed", strconv.FormatUint(cfg.Seed+uint64(i), 10), "-runs", strconv.Itoa(runs))
		cmd.Stdout, cmd.Stderr = &outs[i], os.Stderr
		go func() { errs <- cmd.Run() }()
	}
	for range workers {
		err = errors.Join(err, <-errs)
	}
	total := &interleave.Report{}
	for i := range outs {
		rep, readErr := interleave.ReadReport(outs[i].String())
		err = errors.Join(err, readErr)
		if rep != nil {
			total.Add(rep)
		}
	}
	fmt.Print(total)
	return errors.Join(err, total.Err())
}

// explore explores one worker's share, and writes its report for the process that started it. The clock is simulated by
// testing/synctest, which wants a test around it.
func explore(cfg interleave.Config, worker int) {
	cfg.Step = uint64(flag.Lookup("workers").Value.(flag.Getter).Get().(int))
	if worker == 0 {
		cfg.Progress = func(done int) { fmt.Fprintf(os.Stderr, "\r%d of %d of this worker", done, cfg.Runs) }
	}
	name := fmt.Sprintf("worker %d", worker)
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: name, F: func(t *testing.T) {
		fmt.Println(interleave.Explore(t, cfg).Encode())
	}}}, nil, nil)
}
