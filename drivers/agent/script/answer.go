package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/toolabi"
)

// Reply is what a script answers, before it is put into the words of a protocol.
type Reply struct {
	// Text is what the model writes. It need not be UTF-8.
	Text string
	// Calls are the tools that it asks for, by names that a model may know. Their inputs need not be JSON.
	Calls []model.Call
	// Usage is what the script says, else an estimate: a token for every four bytes that have begun.
	Usage model.Usage
	// Stop is why the model ended, in the script's word; "" where it has none.
	Stop string
	// Cut says that the answer ends because of a limit on its length.
	Cut bool
}

// Answer is Reply as an answer of the protocol of scripts.
func (s *Script) Answer(req model.Request) (model.Answer, error) {
	asked, err := encodeRequest(req)
	if err != nil {
		return model.Answer{}, toolabi.NewError(toolabi.Invalid, err.Error())
	}
	r, err := s.reply(req, asked)
	if err != nil {
		return model.Answer{}, err
	}
	message, err := Message(r.Text, r.Calls)
	if err != nil {
		return model.Answer{}, toolabi.NewError(toolabi.Internal, err.Error())
	}
	digest := sha256.Sum256(asked)
	return model.Answer{
		Protocol: Protocol, Message: message, Stop: r.word(), Usage: r.Usage,
		Model: req.Model, ID: "scripted_" + hex.EncodeToString(digest[:8]),
	}, nil
}

// cutWord is the Stop of an answer that was cut.
const cutWord = "cut"

func (r Reply) word() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case r.Cut:
		return cutWord
	case len(r.Calls) > 0:
		return "calls"
	}
	return "done"
}

// Reply says what the first reply that fits says. The answers in the request have to be those of this protocol.
//
// Errors: a *toolabi.Error, never worth a retry and without effect: with the detail "no_reply" when no reply fits, "expression"
// when one of the script's expressions gives nothing usable, and the code Invalid for a request that cannot be read.
func (s *Script) Reply(req model.Request) (Reply, error) {
	asked, err := encodeRequest(req)
	if err != nil {
		return Reply{}, toolabi.NewError(toolabi.Invalid, err.Error())
	}
	return s.reply(req, asked)
}

func (s *Script) reply(req model.Request, asked []byte) (Reply, error) {
	root, err := s.contextOf(req)
	if err != nil {
		return Reply{}, toolabi.NewError(toolabi.Invalid, err.Error())
	}
	// What is evaluated is bounded by its work, so nobody needs to be able to end it.
	v := &view{ctx: context.Background(), root: root, work: jq.NewWork(MaxWork)}
	for i := range s.replies {
		r := &s.replies[i]
		if r.when != nil {
			holds, err := r.when.eval(v)
			if err != nil {
				return Reply{}, err
			}
			if holds == nil || holds == false { // as in jq, everything else holds
				continue
			}
		}
		return r.answer(v, req, len(asked))
	}
	return Reply{}, noReply(req)
}

// noReply says what no reply fits.
func noReply(req model.Request) error {
	last := "there is no message"
	if n := len(req.Messages); n > 0 {
		if m, err := message(req.Messages[n-1]); err == nil {
			b, _ := jq.Marshal(m)
			last = "the last message is " + toolabi.CutText(string(b), 1<<10)
		}
	}
	return failed("no_reply", fmt.Sprintf("no reply of the script fits turn %d: %s", turn(req), last))
}

// answer makes what a reply says.
func (r *reply) answer(v *view, req model.Request, asked int) (Reply, error) {
	out := Reply{Stop: r.stop, Cut: r.cut}
	if r.say != nil {
		said, err := textual(r.say, v)
		if err != nil {
			return Reply{}, err
		}
		if len(said) > MaxText/r.repeat {
			return Reply{}, wrongf(r.line, "the text has more than %d bytes", MaxText)
		}
		out.Text = strings.Repeat(said, r.repeat)
	}
	var err error
	if out.Calls, err = r.asks(v, req); err != nil {
		return Reply{}, err
	}
	written := len(out.Text)
	for _, c := range out.Calls {
		written += len(c.Tool) + len(c.Input)
	}
	out.Usage, err = r.used(v, model.Usage{Input: tokens(asked), Output: tokens(written)})
	return out, err
}

// tokens estimates how many tokens so many bytes are.
func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

// used is the estimate with what the script says in its place.
func (r *reply) used(v *view, u model.Usage) (model.Usage, error) {
	for _, f := range []struct {
		name string
		to   *int64
	}{{"input", &u.Input}, {"output", &u.Output}, {"cache_read", &u.CacheRead}, {"cache_write", &u.CacheWrite}} {
		t := r.usage[f.name]
		if t == nil {
			continue
		}
		value, err := t.eval(v)
		if err != nil {
			return u, err
		}
		if *f.to, err = count(value); err != nil {
			return u, wrongf(r.line, "usage: %s: %v", f.name, err)
		}
	}
	return u, nil
}

// wrongf is an expression or a value of the script that is of no use.
func wrongf(line int, format string, args ...any) error {
	return failed("expression", fmt.Sprintf("line %d of the script: %s", line, fmt.Sprintf(format, args...)))
}
