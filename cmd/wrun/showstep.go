package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/internal/screen"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// maxBody is how much of a request or a reply is shown to people, in bytes.
const maxBody = 4 << 10

// stepWhole is one attempt of a step with all that the log has of it.
type stepWhole struct {
	*stepPicture
	entries []journal.Entry
	// request and reply are as JSON; nil where the log has none. requested and replied are how many bytes they have in the log.
	request, reply     []byte
	digest             journal.Digest
	requested, replied int64
	sendBy             int64
	evidence           []evidenceSaid
	attempts, inside   []*stepPicture // attempts has the step itself, and the questions about it
}

// evidenceSaid is a record about a step.
type evidenceSaid struct {
	entry journal.Entry
	known *runtime.Evidence // nil for another record than evidence
}

// showStep shows one step of a run.
func (a *app) showStep(c *cobra.Command, h *wrun.Host, p *picture, step journal.Step) error {
	if err := step.Validate(); err != nil {
		return usage(c, "--step: %v", err)
	}
	s := p.byStep[step]
	if s == nil {
		return &runError{p.state.Run, fmt.Errorf("%w: %s", runtime.ErrNoStep, step)}
	}
	w, err := readStep(c.Context(), h, p, s)
	if err != nil {
		return err
	}
	next := a.nextOfStep(h, p, s)
	if !a.json {
		return a.printStep(p, w, next)
	}
	l, err := w.json(c.Context(), h, p)
	if err != nil {
		return err
	}
	l["next"] = orEmpty(next)
	return a.line(l)
}

// readStep reads all that the log has of a step.
func readStep(ctx context.Context, h *wrun.Host, p *picture, s *stepPicture) (*stepWhole, error) {
	w := &stepWhole{stepPicture: s}
	for _, o := range p.steps {
		switch {
		case o.step.Within(s.step):
			w.inside = append(w.inside, o)
		case o.step.Parent() == s.step.Parent() && o.step.First().Asked() == s.step.First().Asked():
			w.attempts = append(w.attempts, o)
		}
	}
	for e, err := range h.Journal().Read(ctx, p.state.Run, 0) {
		if err != nil {
			return nil, err
		}
		if e.Step != s.step {
			continue
		}
		if err := w.add(ctx, h, e); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *stepWhole) add(ctx context.Context, h *wrun.Host, e journal.Entry) error {
	w.entries = append(w.entries, e)
	body, err := h.Body(ctx, e)
	if err != nil {
		return err
	}
	if !e.Request.IsZero() {
		w.digest = e.Request
	}
	switch {
	case e.Kind == journal.Intent:
		w.sendBy = e.SendBy
		w.requested = int64(len(body))
		w.request, err = stepRequest(h, e, body)
	case e.Kind == journal.Result, e.Kind == journal.Late:
		w.replied = int64(len(body))
		switch {
		case e.Step.Asks() != "" && e.Outcome == journal.OK:
			w.reply, err = json.Marshal(bodyOf(e, body))
		case e.Outcome == journal.OK && len(body) > 0:
			w.reply = opened(replyJSON(h, e, body))
		}
	case e.Kind == journal.Record:
		said := evidenceSaid{entry: e}
		var known runtime.Evidence
		if e.Name == journal.RecordEvidence && toolabi.Decode(body, &known) == nil && known.Err != nil {
			said.known = &known
		}
		w.evidence = append(w.evidence, said)
	}
	return err
}

// opened is a reply whose body is a text with JSON in it, with that JSON in its place.
func opened(doc []byte) []byte {
	var fields struct {
		Body json.RawMessage `json:"body"`
	}
	var text string
	if json.Unmarshal(doc, &fields) != nil || json.Unmarshal(fields.Body, &text) != nil {
		return doc
	}
	inner := bytes.TrimSpace([]byte(text))
	if len(inner) == 0 || inner[0] != '{' && inner[0] != '[' || !json.Valid(inner) {
		return doc
	}
	at := bytes.LastIndex(doc, fields.Body)
	return slices.Concat(doc[:at], inner, doc[at+len(fields.Body):])
}

// stepRequest is what a step asked for, as JSON; nil where the log holds its digest alone.
func stepRequest(h *wrun.Host, e journal.Entry, body []byte) ([]byte, error) {
	switch {
	case len(body) == 0:
		return nil, nil
	case e.Step.Asks() != "":
		return json.Marshal(bodyOf(e, body))
	}
	called := !e.Module.IsZero() && toolabi.Class(e.Class) != toolabi.Wait
	return requestJSON(h, &runtime.ReplayedRequest{Name: e.Name, Request: body, Called: called}), nil
}

// nextOfStep are the commands that a step needs, or else its run.
func (a *app) nextOfStep(h *wrun.Host, p *picture, s *stepPicture) []string {
	switch {
	case a.bundled:
		return nil
	case s.status == "in doubt":
		return strings.Split(a.settleWith(p.state.Run, string(s.step)), "\n")
	case s.status == "waiting" && s.due == 0 && !p.state.Finished:
		return strings.Split(a.answerOpen(p.state.Run, s.step, s.until), "\n")
	case s.ended == 0:
		return a.nextOf(p, h.Status(p.state))
	}
	return nil
}

// printStep writes a step for people.
func (a *app) printStep(p *picture, w *stepWhole, next []string) error {
	var b strings.Builder
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-8s %s\n", name, strings.Join(screen.Wrap(text, max(a.columns()-9, 20)), "\n         "))
		}
	}
	row("run", p.state.Run)
	row("step", string(w.step))
	fmt.Fprintf(&b, "%-8s %s\n", "status", painted(a.paint(), word(w.status)))
	row("calls", called(w.stepPicture))
	row("class", w.class.String())
	row("module", w.moduleText(p))
	row("began", exactly(w.began))
	if w.ended != 0 {
		row("ended", exactly(w.ended)+", after "+tookText(w.ended-w.began))
	}
	if w.status == "waiting" {
		row("waits", w.waitsFor())
	}
	row("key", w.key)
	if w.sendBy != 0 {
		row("send by", exactly(w.sendBy))
	}
	if w.fuel != 0 {
		row("fuel", fmt.Sprint(w.fuel))
	}
	if w.paid.Answers > 0 {
		row("cost", stepCost(p, w.stepPicture))
	}
	row("about", w.about())
	row("attempts", w.others())
	for _, e := range w.evidence {
		row("known", e.text())
	}
	if w.err != nil {
		row("error", toolabi.CleanLine(w.err.Error(), 2000))
	}
	row("said by", toolabi.CleanLine(w.said, 2000))
	b.WriteString(bodyText("request", w.request, w.requested, w.digest) + bodyText("reply", w.reply, w.replied, journal.Digest{}))
	if len(w.inside) > 0 {
		b.WriteString("\n" + p.timeline(a.columns(), a.paint(), w.inside))
	}
	if len(next) > 0 { // never broken: somebody copies it
		b.WriteString("\nnext     " + strings.Join(next, "\n         ") + "\n")
	}
	return a.printf("%s", b.String())
}

// exactly is a time to the millisecond, for people.
func exactly(ns int64) string { return fmt.Sprintf("%s.%03d", clock(ns), ns/1e6%1000) }

// moduleText says which module a call enters.
func (w *stepWhole) moduleText(p *picture) string {
	if w.module.IsZero() {
		return ""
	}
	for _, m := range p.spec.Modules {
		if journal.Digest(m.Digest) == w.module {
			return fmt.Sprintf("%s %s\n%s", m.Name, m.Manifest.Version, w.module)
		}
	}
	return w.module.String()
}

// about is the step that a question is about.
func (w *stepWhole) about() string {
	if w.shown == nil {
		return ""
	}
	return fmt.Sprintf("whether %s may begin: %s", w.step.Asks(), w.shown.Tool)
}

// others are the other attempts of the step, and the questions about it.
func (w *stepWhole) others() string {
	var words []string
	for _, o := range w.attempts {
		words = append(words, fmt.Sprintf("%s (%s)", o.step, word(o.status)))
	}
	if len(words) < 2 {
		return ""
	}
	return strings.Join(words, ", ")
}

// text is a record about a step, for people.
func (e evidenceSaid) text() string {
	text := e.entry.Name
	if e.known != nil {
		text = evidence(e.known)
	}
	if e.entry.Note != "" {
		text += " (" + e.entry.Note + ")"
	}
	if e.entry.By != "" {
		text += ", by " + e.entry.By
	}
	return toolabi.CleanLine(clock(e.entry.Time)+" "+text, 2000)
}

// stepCost is what the answers of a model took.
func stepCost(p *picture, s *stepPicture) string {
	text := fmt.Sprintf("%d tokens", s.paid.Usage.Total())
	if p.priced() {
		text = agent.FormatAmount(s.paid.Cost) + " for " + text
	}
	return text
}

// bodyText is a body below its name, cut to what people read; "" where the log has none, and nothing is known of it.
func bodyText(name string, doc []byte, size int64, digest journal.Digest) string {
	switch {
	case doc == nil && digest.IsZero():
		return ""
	case doc == nil:
		return fmt.Sprintf("\n%s (the log holds only its digest, %s)\n", name, digest.Short())
	}
	text := strings.TrimRight(indented(doc), "\n")
	if len(text) > maxBody {
		text = toolabi.CutText(text, maxBody) + "…\n(cut; --json has all of it)"
	}
	return fmt.Sprintf("\n%s of %s\n  %s\n", name, number(uint64(size), "byte", "bytes"), strings.ReplaceAll(text, "\n", "\n  "))
}

// json is a step as show --step --json shows it: the fields that show --json has of it, and all the rest.
func (w *stepWhole) json(ctx context.Context, h *wrun.Host, p *picture) (map[string]any, error) {
	l := w.stepPicture.json(p.priced())
	l["run"] = p.state.Run
	if !w.module.IsZero() {
		l["module"] = w.module.String()
	}
	if !w.digest.IsZero() {
		l["request_digest"] = w.digest.String()
	}
	if w.sendBy != 0 {
		l["send_by"] = stamp(w.sendBy)
	}
	if w.request != nil {
		l["request"], l["request_bytes"] = json.RawMessage(w.request), w.requested
	}
	if w.reply != nil {
		l["reply"], l["reply_bytes"] = json.RawMessage(w.reply), w.replied
	}
	names := func(steps []*stepPicture) []string {
		list := []string{}
		for _, s := range steps {
			list = append(list, string(s.step))
		}
		return list
	}
	l["attempts"], l["inside"] = names(w.attempts), names(w.inside)
	known := []map[string]any{}
	for _, e := range w.evidence {
		line := map[string]any{"time": stamp(e.entry.Time), "name": e.entry.Name, "text": e.text()}
		if e.known != nil {
			line["error"], line["sent"] = errorLine(e.known.Err), e.known.Sent
		}
		known = append(known, line)
	}
	l["known"] = known
	entries := []map[string]any{}
	for _, e := range w.entries {
		line, err := entryLine(ctx, h, e)
		if err != nil {
			return nil, err
		}
		entries = append(entries, line)
	}
	l["entries"] = entries
	return l, nil
}
