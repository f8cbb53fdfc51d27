package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// StepName is the name of the steps that ask a model, in the log.
const StepName = "model"

// maxReply is the longest answer as it is recorded, in bytes.
const maxReply = model.MaxAnswer + 64<<10

// ask asks the model with what it is to know by now, or returns what it answered when the log holds that. The answer is on the
// disk before anything is done about it.
func (l *loop) ask(ctx context.Context, turn int) (*model.Answer, error) {
	m := &l.agent.Model
	step := askStep(turn)
	request, err := l.client.Encode(model.Request{
		Model: m.Name, Instructions: l.agent.Instructions, Messages: l.talk.messages, Tools: l.told,
		MaxTokens: m.MaxTokens, Temperature: m.Temperature,
	})
	if err != nil {
		return nil, failed("request", fmt.Sprintf("request %d to the model cannot be made: %v", turn, err))
	}
	if !l.r.Recorded(step) {
		if err := l.afford(turn); err != nil {
			return nil, err
		}
		if err := l.ready(ctx); err != nil {
			return nil, err
		}
	}
	timeout := m.timeout(model.DefaultTimeout)
	reply, err := l.r.Do(ctx, step, runtime.Act{
		Name: StepName, Request: request, Bulky: true, Note: m.words(), Class: toolabi.Effect, Timeout: timeout, MaxReply: maxReply, Retry: m.retry(), Exact: true,
		Do: func(ctx context.Context, a runtime.Attempt) ([]byte, error) {
			answer, err := l.client.Send(ctx, request, model.Attempt{
				Key: a.Key, BeforeSend: a.BeforeSend, Progress: m.progress(a.Progress), Timeout: timeout,
			})
			if err != nil {
				return nil, err
			}
			return toolabi.Encode(answer)
		},
	})
	if err != nil {
		return nil, atStep(step, err)
	}
	answer, err := ReadAnswer(reply)
	if err != nil {
		return nil, &runtime.DivergedError{Run: l.r.ID(), Step: step, What: err.Error()}
	}
	l.spent.add(m.Prices, answer.Usage)
	return answer, nil
}

// ready reads the key that the provider wants, before anything is announced: what is wrong with its source can be mended, and is no
// outcome of the run.
func (l *loop) ready(ctx context.Context) error {
	c, has := l.client.(*keyed)
	if !has {
		return nil
	}
	_, err := c.read(ctx)
	if err == nil || ctx.Err() != nil { // who is stopped while a program asks for it has not failed to say it
		return err
	}
	return runtime.Unable(&KeyError{l.r.ID(), c.source, err})
}

// atStep says which step it was that failed: FailedStep finds it again.
func atStep(step journal.Step, err error) error {
	var failure *toolabi.Error
	if !errors.As(err, &failure) || err != error(failure) {
		return err
	}
	said := *failure
	said.Message = string(step) + ": " + failure.Message
	if failure.Detail == "status_401" || failure.Detail == "status_403" {
		said.Detail = DetailKeyRefused
	}
	return &said
}

var asked = regexp.MustCompile(`^model\[[0-9]+\]$`)

// FailedStep returns the step of the error with which a run ended because its model did not answer, "" of any other error. A copy of the
// run up to there has all that was answered before, and asks again.
func FailedStep(failure *toolabi.Error) journal.Step {
	step, _, _ := strings.Cut(failure.Message, ": ")
	if !asked.MatchString(step) {
		return ""
	}
	return journal.Step(step)
}

// DetailKeyRefused is the Detail of the error of a run that failed because the provider did not take the key.
const DetailKeyRefused = "key_refused"

// ReadAnswer reads the recorded reply of a step that asked a model.
func ReadAnswer(reply []byte) (*model.Answer, error) {
	answer := new(model.Answer)
	if err := toolabi.Decode(reply, answer); err != nil {
		return nil, fmt.Errorf("the recorded answer cannot be read: %w", err)
	}
	return answer, nil
}

// progress tells people how far an answer has come that comes in pieces.
func (m *Model) progress(tell func(text string)) func(int64, string) {
	if tell == nil || m.Whole {
		return nil
	}
	said := int64(0)
	return func(bytes int64, _ string) {
		if bytes >= 2*said+256 { // each line says about twice as much as the one before
			said = bytes
			tell(fmt.Sprintf("%d bytes", bytes))
		}
	}
}
