package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// crashtestFlags say of what run crashtest is.
type crashtestFlags struct {
	input  string
	grants grantFlags
	limits limitFlags
}

func (f *crashtestFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.input, "input", "{}", "the plan's input: `JSON`, @FILE or - for standard input")
	f.limits.add(c)
	f.grants.add(c)
}

// crashtestSubject is a plan or an agent, with what it is given.
type crashtestSubject struct {
	agent   *agent.Agent // nil for a plan
	text    []byte       // of the plan
	input   []byte       // of the plan, and the agent's task
	modules []planModule
	grants  hostfuncs.Grants // those of flags
	given   bool             // there are flags that grant
	limits  toolabi.Limits
}

// crashtestSubject reads it. choose says which model an agent asks.
func (a *app) crashtestSubject(c *cobra.Command, args []string, f *crashtestFlags, choose func(*agent.Model) error) (s *crashtestSubject, err error) {
	s = &crashtestSubject{limits: f.limits.limits(), given: len(f.grants.given) > 0}
	if s.grants, err = f.grants.grants(c); err != nil {
		return nil, err
	}
	if len(args) == 2 {
		if c.Flags().Changed("input") {
			return nil, usage(c, "an agent has a TASK and no --input")
		}
		task, err := a.task(c, args[1])
		if err != nil {
			return nil, err
		}
		read, err := a.readAgent(args[0], choose)
		s.agent, s.modules, s.input = read.agent, read.modules, []byte(task)
		return s, err
	}
	if s.input, err = a.jsonInput(c.Context(), f.input); err != nil {
		return nil, err
	}
	p, text, err := readPlan(args[0], s.input)
	if err != nil {
		if text, readErr := readFile(args[0]); readErr == nil {
			if _, agentErr := agent.Parse(text); agentErr == nil {
				return nil, usage(c, "%s is an agent, which has a TASK", args[0])
			}
		}
		return nil, err
	}
	s.text = text
	s.modules, err = a.readModules(p, filepath.Dir(args[0]))
	return s, err
}

// bytes are the modules' bytes. There are none of nil.
func (s *crashtestSubject) bytes() map[toolabi.Digest][]byte {
	all := map[toolabi.Digest][]byte{}
	if s != nil {
		for _, m := range s.modules {
			all[m.info.Digest] = m.info.Bytes()
		}
	}
	return all
}

// spec is what a run of it is made of. Its modules are granted what they ask for, as far as the world has it, unless flags grant.
func (s *crashtestSubject) spec(job crashtest.Job) (runtime.Spec, error) {
	var modules []runtime.Module
	var manifests []toolabi.Manifest
	for _, m := range s.modules {
		modules = append(modules, runtime.Module{Name: m.name, Digest: m.info.Digest, Manifest: *m.info.Manifest})
		manifests = append(manifests, *m.info.Manifest)
	}
	grants := s.grants
	if !s.given {
		grants = job.Offer.Grants(manifests)
	}
	if s.agent != nil {
		spec, err := s.agent.Spec(string(s.input), modules, grants, s.limits)
		if err != nil {
			return spec, &codedError{codeAgent, fmt.Errorf("the agent: %w", err)}
		}
		return spec, nil
	}
	return runtime.Spec{
		Driver: plan.Name, Version: plan.Version, Plan: s.text, Input: s.input, Modules: modules, Grants: grants, Limits: s.limits,
	}, nil
}
