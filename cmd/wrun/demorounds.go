package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// stage is where the demo takes place.
type stage struct {
	app                      *app
	dir, plan, self, journal string
	ledger                   *demoLedger
	wrong                    []error // what was not as promised
}

// process is a wrun of the demo while it runs.
type process struct {
	cmd  *exec.Cmd
	text bytes.Buffer // what it says, standard output and error
}

// start begins a process of its own.
func (s *stage) start(ctx context.Context, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, s.self, append([]string{"--journal", s.journal, "-v"}, args...)...)}
	p.cmd.Dir = s.dir
	p.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+s.dir) // the operator's own policy and grants have no part in it
	p.cmd.Stdout, p.cmd.Stderr = &p.text, &p.text
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", strings.Join(args, " "), err)
	}
	return p, nil
}

// wait returns the exit code of a process.
func (p *process) wait() (int, error) {
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return p.cmd.ProcessState.ExitCode(), nil
}

// kill ends a process with SIGKILL once ready says so.
func (s *stage) kill(ctx context.Context, ready func(context.Context) error, args ...string) error {
	p, err := s.start(ctx, args...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		_, err := p.wait()
		cancel(fmt.Errorf("the process ended before it could be killed:\n%s", p.text.String()))
		ended <- err
	}()
	readyErr := ready(ctx)
	killErr := p.cmd.Process.Kill()
	if err := <-ended; err != nil {
		return err
	}
	if readyErr != nil {
		return errors.Join(readyErr, context.Cause(ctx))
	}
	return errors.Join(killErr, s.said(p))
}

// run lets a process end by itself, and holds its exit code against what is promised.
func (s *stage) run(ctx context.Context, want int, args ...string) error {
	p, err := s.start(ctx, args...)
	if err != nil {
		return err
	}
	code, err := p.wait()
	if err != nil {
		return err
	}
	if err := s.said(p); err != nil {
		return err
	}
	if code != want {
		s.wrong = append(s.wrong, fmt.Errorf("wrun %s ended with exit code %d instead of %d", strings.Join(args, " "), code, want))
	}
	return s.app.printf("    exit code %d, the ledger counts %d\n", code, s.ledger.Count().Charges)
}

// said shows what a process said, indented.
func (s *stage) said(p *process) error {
	for line := range strings.Lines(strings.ReplaceAll(p.text.String(), s.dir, "DIR")) {
		if err := s.app.printf("    | %s\n", strings.TrimRight(line, "\n")); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) input(reference string) string {
	b, err := json.Marshal(map[string]string{"ledger": s.ledger.url, "reference": reference})
	if err != nil {
		return ""
	}
	return string(b)
}

func (s *stage) runArgs(id string) []string {
	return []string{"run", s.plan, "--id", id, "--input", s.input(id), "--allow-http", s.ledger.url}
}

// caseA kills the process when the ledger has acted and nobody knows yet.
func (s *stage) caseA(ctx context.Context) error {
	if err := s.app.printf("\n(a) killed after the charge was sent and before its reply is recorded\n\n  round 1: wrun run, killed while the ledger holds its reply\n"); err != nil {
		return err
	}
	s.ledger.SetBehaviour(ledger.Behaviour{Hang: 1})
	if err := s.kill(ctx, func(ctx context.Context) error { return s.ledger.WaitHanging(ctx, 1) }, s.runArgs("demo-a")...); err != nil {
		return err
	}
	s.ledger.SetBehaviour(ledger.Behaviour{})
	s.ledger.Release()
	if err := s.app.printf("    killed with SIGKILL, the ledger counts %d\n\n  round 2: wrun resume, in a new process\n", s.ledger.Count().Charges); err != nil {
		return err
	}
	if err := s.run(ctx, exitUncertain, "resume", "demo-a"); err != nil {
		return err
	}
	if len(s.wrong) > 0 {
		return nil // there is nothing to settle; the verdict says so
	}
	reply, err := s.lookUp("demo-a")
	if err != nil {
		return err
	}
	if err := s.app.printf("\n  round 3: the ledger is asked, and what it says is recorded\n"); err != nil {
		return err
	}
	if err := s.run(ctx, 0, "resolve", "demo-a", "charge/1", "--happened", "@"+reply, "--note", "found in the ledger"); err != nil {
		return err
	}
	if err := s.app.printf("\n  round 4: wrun resume, in a new process\n"); err != nil {
		return err
	}
	return s.run(ctx, 0, "resume", "demo-a")
}

// lookUp writes the ledger's charge of a reference into a file, as a person would who looked it up.
func (s *stage) lookUp(reference string) (string, error) {
	for _, c := range s.ledger.Charges() {
		if c.Reference != reference {
			continue
		}
		b, err := json.Marshal(map[string]any{"status": 201, "body": map[string]any{
			"id": c.ID, "account": c.Account, "amount_cents": c.AmountCents, "reference": c.Reference,
		}})
		if err != nil {
			return "", err
		}
		path := filepath.Join(s.dir, "reply.json")
		return path, os.WriteFile(path, b, 0o600)
	}
	return "", fmt.Errorf("the ledger has no charge %s", reference)
}

// recorded returns once the journal holds what came of a step, which may wait some milliseconds for a commit.
func (s *stage) recorded(ctx context.Context, run, step string) error {
	for ctx.Err() == nil {
		out, err := exec.CommandContext(ctx, s.self, "--journal", s.journal, "log", run, "--json").Output()
		if err != nil {
			return fmt.Errorf("read the log of %s: %w", run, err)
		}
		for line := range bytes.Lines(out) {
			var e struct{ Kind, Step string }
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("read the log of %s: %w", run, err)
			}
			if e.Kind == "result" && e.Step == step {
				return nil
			}
		}
	}
	return ctx.Err()
}

// caseB kills the process when the charge and its reply are recorded, and the run is not at its end.
func (s *stage) caseB(ctx context.Context) error {
	if err := s.app.printf("\n(b) killed after the reply is recorded\n\n  round 1: wrun run, killed during the look-up that follows\n"); err != nil {
		return err
	}
	held := s.ledger.holdLookups()
	ready := func(ctx context.Context) error { return errors.Join(held(ctx), s.recorded(ctx, "demo-b", "charge")) }
	if err := s.kill(ctx, ready, s.runArgs("demo-b")...); err != nil {
		return err
	}
	if err := s.app.printf("    killed with SIGKILL, the ledger counts %d\n\n  round 2: wrun resume, in a new process\n", s.ledger.Count().Charges); err != nil {
		return err
	}
	if err := s.run(ctx, 0, "resume", "demo-b"); err != nil {
		return err
	}
	if err := s.app.printf("\n  round 3: the run is finished: it returns what it returned, and executes nothing\n"); err != nil {
		return err
	}
	return s.run(ctx, 0, "resume", "demo-b")
}
