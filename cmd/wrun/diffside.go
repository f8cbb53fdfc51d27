package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// side is one of two runs that are compared.
type side struct {
	name   string // as it was named
	spec   *runtime.Spec
	grants hostfuncs.Grants // with what resumes have added
	status string
	ended  sideBody
	steps  map[journal.Step]*sideStep // by their names without attempts
	order  []journal.Step             // in which the log first names them
}

// sideStep is what a log holds of a step. Where there are several attempts it is the last one.
type sideStep struct {
	name     string
	class    toolabi.Class
	module   journal.Digest
	digest   journal.Digest // of the request
	request  sideBody
	result   sideBody
	outcome  string // of the result; what an open step waits for otherwise
	attempts int
}

// sideBody is a body: the beginning of it, for people, and what it is compared by.
type sideBody struct {
	there bool
	text  string
	sum   [sha256.Size]byte
}

// readSide reads a run to compare it.
func readSide(ctx context.Context, h *wrun.Host, named, run string) (*side, error) {
	spec, err := h.Spec(ctx, run)
	if err != nil {
		return nil, err
	}
	s := &side{name: named, spec: spec, grants: spec.Grants, steps: map[journal.Step]*sideStep{}}
	state := &journal.State{Run: run}
	for e, err := range h.Journal().Read(ctx, run, 0) {
		if err == nil {
			err = state.Apply(e)
		}
		if err == nil {
			err = s.add(ctx, h, e)
		}
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run, err)
		}
	}
	running := h.Status(state) == journal.Running
	for step, open := range state.Open {
		s.steps[step.WithoutAttempts()].outcome = openStatus(open, running)
	}
	s.status = string(h.Status(state))
	return s, nil
}

func (s *side) add(ctx context.Context, h *wrun.Host, e journal.Entry) error {
	if e.Kind == journal.Record && e.Name == runtime.RecordGrants {
		body, err := h.Body(ctx, e)
		if err != nil {
			return err
		}
		var more hostfuncs.Grants
		if err := toolabi.Decode(body, &more); err != nil {
			return fmt.Errorf("%w: grants in entry %d: %w", journal.ErrDamaged, e.Seq, err)
		}
		s.grants = s.grants.Union(more)
	}
	if e.Kind != journal.Intent && e.Kind != journal.Result && e.Kind != journal.Void && e.Kind != journal.Finished {
		return nil
	}
	body, err := h.Body(ctx, e)
	if err != nil {
		return err
	}
	if e.Kind == journal.Finished {
		s.ended = bodyOfOutcome(h, e, body)
		return nil
	}
	key := e.Step.WithoutAttempts()
	step := s.steps[key]
	if step == nil {
		step = new(sideStep)
		s.steps[key] = step
		s.order = append(s.order, key)
	}
	switch {
	case e.Kind == journal.Void:
		step.outcome = "did not happen"
		return nil
	case e.Kind == journal.Intent || e.OnCut != 0: // it says what was asked for
		*step = sideStep{name: e.Name, class: toolabi.Class(e.Class), module: e.Module, digest: e.Request, attempts: step.attempts + 1}
		if e.Kind == journal.Intent {
			step.request = requestBody(h, e, body)
		}
	}
	if e.Kind == journal.Result {
		step.outcome, step.result = e.Outcome.String(), bodyOfOutcome(h, e, lasting(e, body))
		if e.Name == toolabi.FuncClock || e.Name == toolabi.FuncRandom {
			step.result = sideBody{} // which is never the same
		}
	}
	return nil
}

// lasting is the body of a result without what is never the same: when a server says that it answered.
func lasting(e journal.Entry, body []byte) []byte {
	var r toolabi.HTTPReply
	http := e.Name == toolabi.FuncHTTPFetch || e.Name == toolabi.FuncHTTPSend
	if !http || e.Outcome != journal.OK || toolabi.Decode(body, &r) != nil {
		return body
	}
	r.Headers = slices.DeleteFunc(r.Headers, func(h toolabi.Header) bool { return strings.EqualFold(h.Name, "Date") })
	if b, err := toolabi.Encode(&r); err == nil {
		return b
	}
	return body
}

func requestBody(h *wrun.Host, e journal.Entry, body []byte) sideBody {
	r := &runtime.ReplayedRequest{Name: e.Name, Digest: e.Request, Request: body, Called: !e.Module.IsZero() && toolabi.Class(e.Class) != toolabi.Wait}
	if r.Request == nil {
		r.Request = []byte{}
	}
	return sideBody{there: true, text: requestText(h, r), sum: sha256.Sum256(body)}
}

// bodyOfOutcome is what a result or the end of a run says.
func bodyOfOutcome(h *wrun.Host, e journal.Entry, body []byte) sideBody {
	b := sideBody{there: true, sum: sha256.Sum256(body)}
	switch {
	case e.Outcome != journal.OK:
		b.text = e.Outcome.String() + "\n"
		if t := decodeError(body); t != nil {
			b.text = resultText(&runtime.ReplayedResult{Err: t})
		}
	case len(body) > 0:
		b.text = indented(replyJSON(h, e, body))
	}
	return b
}
