package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wrun-dev/wrun/policy"
	"github.com/wrun-dev/wrun/runtime"
)

// config returns the directory of the configuration, which is never the working directory nor that of a plan: what decides
// about authority is the operator's.
func (a *app) config() (string, error) {
	if a.configDir != "" {
		return a.configDir, nil
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // also when it is not set; the specification says to ignore relative ones
		var err error
		if dir, err = os.UserConfigDir(); err != nil || !filepath.IsAbs(dir) {
			return "", nil // a user without a home has no configuration
		}
	}
	return filepath.Join(dir, "wrun"), nil
}

// policy reads the operator's policy, nil where there is none. One with a mistake keeps everything from being driven.
func (a *app) policy() (runtime.Policy, error) {
	dir, err := a.config()
	if err != nil || dir == "" {
		return nil, err
	}
	path := filepath.Join(dir, "policy.yaml")
	text, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.configDir == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(dir); err != nil { // a directory that was named has to be there, the policy in it has not
			return nil, fileError(err)
		}
		return nil, nil
	case err != nil:
		return nil, err
	}
	p, err := policy.Parse(text)
	if err != nil {
		return nil, &codedError{codeConfig, fmt.Errorf("%s: %w", path, err)}
	}
	return func(ctx context.Context, c runtime.Candidate) runtime.Decision {
		return decision(p.Decide(ctx, candidate(c)))
	}, nil
}

func candidate(c runtime.Candidate) policy.Call {
	return policy.Call{
		Run: c.Run, Step: string(c.Step), Module: c.Module, Tool: c.Tool, Digest: c.Digest.String(),
		Idempotency: string(c.Idempotency), Destructive: c.Destructive, Approval: c.Approval, Input: c.Input,
	}
}

// decision is what the policy says, as the engine understands it. Where no rule of the file matched and the default lets the
// call begin, a tool that wants approval is still asked about: only a rule takes that from it.
func decision(d policy.Decision) runtime.Decision {
	said := runtime.Decision{Verdict: runtime.Deny, Reason: d.Reason, Within: d.Within}
	switch d.Do {
	case policy.Allow:
		said.Verdict = runtime.Allow
		if d.Rule == 0 {
			said.Verdict = runtime.NoVerdict
		}
	case policy.Ask:
		said.Verdict = runtime.AskFirst
	}
	return said
}
