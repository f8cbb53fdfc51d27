package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/toolabi"
)

func newDevFakeModel(a *app) *cobra.Command {
	var cfg fakemodel.Config
	var file string
	var delay time.Duration
	c := &cobra.Command{
		Use:   "fake-model",
		Short: "Serve a scripted model in the protocols of two providers, with their faults",
		Long: `Serve a scripted model on loopback until a signal comes. The first line on standard output is its
address, from which a client is told where to go:

  WRUN_MODEL_BASE_URL=http://127.0.0.1:PORT/v1   for chat completions (POST /v1/chat/completions)
  WRUN_MODEL_BASE_URL=http://127.0.0.1:PORT      for messages (POST /v1/messages)

Each request that is worked on is billed before anything of its answer leaves: GET /count and
GET /bills say what was paid for. The flags of faults take the number of requests that meet them,
and -1 for all; POST /behaviour changes them later. docs/script.md describes the script.`,
		Example: "  wrun dev fake-model --script script.yaml --file bills.jsonl --drop-after 1",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if cfg.Script, err = readScript(file); err != nil {
				return err
			}
			cfg.Behaviour.DelayMS = int(delay.Milliseconds())
			return a.fakeModel(c, cfg)
		},
	}
	f, b := c.Flags(), &cfg.Behaviour
	f.StringVar(&file, "script", "", "the `FILE` with what the model says (default: hello)")
	f.StringVar(&cfg.Addr, "listen", "127.0.0.1:0", "the `ADDRESS` to listen on")
	f.BoolVar(&cfg.Anywhere, "anywhere", false, "listen on an address that is not loopback too; nothing keeps others out")
	f.StringVar(&cfg.File, "file", "", "the `FILE` that bills are kept in (default: in memory)")
	f.StringVar(&cfg.Key, "key", "", "the API `KEY` that requests have to come with (default: none)")
	f.BoolVar(&b.HonourKeys, "honour-keys", false, "send the answer again for an idempotency key that was billed")
	for _, fault := range fakemodel.Faults {
		f.IntVar(b.Left(fault.Fault), strings.ReplaceAll(string(fault.Fault), "_", "-"), 0, fault.About)
	}
	f.IntVar(&b.RetryAfter, "retry-after", 0, "what Retry-After says, in seconds (default 1)")
	f.IntVar(&b.CutAfter, "cut-after", 0, "after how many bytes --cut cuts (default: half of the reply)")
	f.DurationVar(&delay, "delay", 0, "how long every reply is held back after its bill")
	f.Float64Var(&b.Random, "random", 0, "the part of the requests that meet some fault, 0 to 1")
	f.Uint64Var(&b.Seed, "seed", 0, "which requests --random chooses")
	return c
}

// readScript reads the script of a model; nil for none.
func readScript(file string) (*script.Script, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	s, err := script.Parse(text)
	if err != nil {
		return nil, &codedError{codeScript, fmt.Errorf("%s: %w", file, err)}
	}
	return s, nil
}

// fakeModel serves until the context ends, which is how a server ends: the exit code is the signal's.
func (a *app) fakeModel(c *cobra.Command, cfg fakemodel.Config) error {
	cfg.Observe = func(s fakemodel.Served) { a.say("%s", servedLine(s)) }
	s, err := fakemodel.Start(cfg)
	var listen *net.OpError
	switch {
	case errors.Is(err, fakemodel.ErrConfig), errors.As(err, &listen):
		return usage(c, "%v", err)
	case err != nil:
		return fileError(err)
	}
	if a.json {
		err = a.line(map[string]string{"url": s.URL()})
	} else {
		err = a.printf("%s\n", s.URL())
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	<-c.Context().Done()
	err = errors.Join(context.Cause(c.Context()), s.Close())
	n := s.Count()
	a.say("%d requests, %d bills, %d tokens, %d keys, %d answers sent again", n.Requests, n.Bills, n.Tokens, n.Keys, n.Replayed)
	return err
}

// servedLine says what became of one request.
func servedLine(s fakemodel.Served) string {
	line := fmt.Sprintf("%d %s: ", s.N, s.Path)
	if s.Status != 0 {
		line += fmt.Sprint(s.Status)
	} else {
		line += "no reply"
	}
	switch {
	case s.Bill != nil:
		line += fmt.Sprintf(", bill %d of %d tokens", s.Bill.N, s.Bill.Tokens)
	case s.Replayed:
		line += ", sent again"
	default:
		line += ", not billed"
	}
	if s.Fault != "" {
		line += ", " + string(s.Fault)
	}
	if s.Problem != "" {
		line += ": " + toolabi.CleanLine(s.Problem, 500)
	}
	return line
}
