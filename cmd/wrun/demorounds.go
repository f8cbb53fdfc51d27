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

	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/ledger"
)

// stage is where the demo takes place.
type stage struct {
	app                       *app
	dir, agent, self, journal string
	ledger                    *ledger.Server
	model                     *fakemodel.Server
	asked, charged            int     // what the model and the ledger had counted when the last round ended
	wrong                     []error // what was not as promised
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
	p.cmd.Env = append(os.Environ(),
		"XDG_CONFIG_HOME="+s.dir, // the operator's own policy and grants have no part in it
		envModel+"=openai/scripted", envBaseURL+"="+s.model.URL()+"/v1", envKey+"=")
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
	return s.app.tell("    exit code %d: %s\n", code, s.count())
}

// count says what the model and the ledger were asked for since the last time.
func (s *stage) count() string {
	asked, charged := len(s.model.Bills()), s.ledger.Count().Charges
	words := fmt.Sprintf("model ×%d · tool ×%d", asked-s.asked, charged-s.charged)
	s.asked, s.charged = asked, charged
	return words
}

// said shows what a process said, indented.
func (s *stage) said(p *process) error {
	for line := range strings.Lines(strings.ReplaceAll(p.text.String(), s.dir, "DIR")) {
		if err := s.app.tell("    | %s\n", strings.TrimRight(line, "\n")); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) agentArgs(id, account string) []string {
	task := fmt.Sprintf("take 42.00 from %s for reference %s at %s", account, id, s.ledger.URL())
	return []string{"agent", s.agent, task, "--id", id, "--allow-http", s.ledger.URL()}
}

// behave changes the ledger's behaviour, and lets go of what it held.
func (s *stage) behave(b ledger.Behaviour) {
	s.ledger.SetBehaviour(b)
	s.ledger.Release()
}

// threeRounds kills the process when its tool has paid and asks for something else.
func (s *stage) threeRounds(ctx context.Context) error {
	if err := s.app.tell("\n(a) an agent pays, and is killed before it has heard what became of it\n\n  round 1: wrun agent, killed while its tool asks what was paid in all\n"); err != nil {
		return err
	}
	s.behave(ledger.Behaviour{HangLists: 1})
	if err := s.kill(ctx, func(ctx context.Context) error { return s.ledger.WaitHanging(ctx, 1) }, s.agentArgs("demo-a", "ada")...); err != nil {
		return err
	}
	s.behave(ledger.Behaviour{})
	if err := s.app.tell("    killed with SIGKILL: %s\n\n  round 2: wrun resume, in a new process that has nothing but the id\n", s.count()); err != nil {
		return err
	}
	if err := s.run(ctx, 0, "resume", "demo-a"); err != nil {
		return err
	}
	if err := s.app.tell("\n  round 3: the run is finished: it returns what it returned, and does nothing again\n"); err != nil {
		return err
	}
	if err := s.run(ctx, 0, "resume", "demo-a"); err != nil {
		return err
	}
	if err := s.app.tell("\n  wrun cost\n"); err != nil {
		return err
	}
	return s.run(ctx, 0, "cost", "demo-a")
}

// uncertain kills the process when the ledger has acted and nobody knows yet.
func (s *stage) uncertain(ctx context.Context) error {
	if err := s.app.tell("\n(b) an agent pays, and is killed before the ledger's reply is recorded\n\n  round 1: wrun agent, killed while the ledger holds its reply\n"); err != nil {
		return err
	}
	s.behave(ledger.Behaviour{Hang: 1})
	if err := s.kill(ctx, func(ctx context.Context) error { return s.ledger.WaitHanging(ctx, 1) }, s.agentArgs("demo-b", "bob")...); err != nil {
		return err
	}
	s.behave(ledger.Behaviour{})
	if err := s.app.tell("    killed with SIGKILL: %s\n\n  round 2: wrun resume, in a new process\n", s.count()); err != nil {
		return err
	}
	if err := s.run(ctx, exitUncertain, "resume", "demo-b"); err != nil {
		return err
	}
	if len(s.wrong) > 0 {
		return nil // there is nothing to settle; the verdict says so
	}
	reply, err := s.lookUp("demo-b")
	if err != nil {
		return err
	}
	if err := s.app.tell("\n  round 3: the ledger is asked, and what it says is recorded\n"); err != nil {
		return err
	}
	if err := s.run(ctx, 0, "resolve", "demo-b", "call[0][0]/1", "--happened", "@"+reply, "--note", "found in the ledger"); err != nil {
		return err
	}
	if err := s.app.tell("\n  round 4: wrun resume, in a new process\n"); err != nil {
		return err
	}
	return s.run(ctx, 0, "resume", "demo-b")
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
