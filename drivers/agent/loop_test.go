package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// once asks for calls in its first turn, and then answers with what came of the last of them.
func once(calls string) agent.Agent {
	return scripted(`
replies:
  - when: ${ .turn > 0 }
    say: "${ .results[-1].text }"
  - calls: ` + calls)
}

func TestTheModelIsAskedWithWhatCameOfItsCallsInTheirOrder(t *testing.T) {
	s := newSite(t)
	got, err := s.answer(once(`[{tool: shop.echo, with: {n: 1}}, {tool: shop.send, with: {what: rent}}, {tool: shop.fail, with: {}}, {tool: shop.echo, with: {n: 9007199254740993}}]`))
	if err != nil || got != `{"n":9007199254740993}` {
		t.Fatalf("got %q, %v", got, err)
	}
	want := "{\"n\":1}\n{\"sent\":true}\n! failed: out of stock\n{\"n\":9007199254740993}"
	if got := texts(s.told()); got != want {
		t.Errorf("the model was told\n%s\nwant\n%s", got, want)
	}
	if len(s.sent) != 1 || s.billed() != 2 {
		t.Errorf("sent %q, the model worked %d times", s.sent, s.billed())
	}
}

func TestADecisionIsOnTheDiskBeforeAnythingIsDoneAboutIt(t *testing.T) {
	s := newSite(t)
	if _, err := s.answer(once(`[{tool: shop.send, with: {what: rent}}]`)); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, e := range s.entries() {
		if e.Step != "" {
			order = append(order, fmt.Sprintf("%s %s", e.Kind, e.Step))
		}
		if e.Kind == journal.Intent && e.Name == agent.StepName && (len(e.Body) != 0 || !e.Blob.IsZero() || e.Key == "" || e.Request.IsZero()) {
			t.Errorf("the intent of %s has %d bytes of the request, key %q", e.Step, len(e.Body), e.Key)
		}
	}
	want := []string{
		"intent model[0]", "result model[0]", "intent call[0][0]", "intent call[0][0]/1", "result call[0][0]/1", "result call[0][0]",
		"intent model[1]", "result model[1]",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the log has %q, want %q", order, want)
	}
}

func TestWhatCannotBeCalledGoesBackToTheModel(t *testing.T) {
	for name, c := range map[string]struct{ calls, want string }{
		"no such tool":        {`[{tool: shop.steal, with: {}}]`, `! not called: there is no tool "shop_steal"; there are shop_send, shop_echo, shop_fail, shop_ask`},
		"does not fit":        {`[{tool: shop.send, with: {that: 1}}]`, `! bad_input: input of shop.send: `},
		"no JSON":             {`[{tool: shop.send, arguments: "{broken"}]`, `! not called: the arguments are no JSON that can be used: its syntax is wrong, or it has no end`},
		"no whole JSON":       {`[{tool: shop.send, arguments: '{"what":'}]`, `! not called: the arguments are no JSON that can be used: its syntax is wrong, or it has no end`},
		"no object":           {`[{tool: shop.send, arguments: "[1]"}]`, `! not called: the arguments are not a JSON object`},
		"no UTF-8":            {`[{tool: shop.send, arguments: '{"what":"\xff"}'}]`, `! not called: the arguments are no JSON that can be used: `},
		"a key twice":         {`[{tool: shop.send, arguments: '{"what":"a","what":"b"}'}]`, `! not called: the arguments are no JSON that can be used: `},
		"the same id twice":   {`[{tool: shop.send, with: {what: a}, id: x}, {tool: shop.send, with: {what: a}, id: x}]`, "{\"sent\":true}\n! not called: the id \"x\" of this call is that of another one in the same answer"},
		"no arguments at all": {`[{tool: shop.echo, arguments: ""}]`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			if _, err := s.answer(once(c.calls)); err != nil {
				t.Fatal(err)
			}
			if got := texts(s.told()); !strings.HasPrefix(got, c.want) {
				t.Errorf("the model was told\n%s\nwant\n%s", got, c.want)
			}
			if n := strings.Count(c.want, "sent"); len(s.sent) != n {
				t.Errorf("%q was sent", s.sent)
			}
		})
	}
}

func TestAnAnswerMayNotAskForMoreCallsThanTheLimit(t *testing.T) {
	s := newSite(t)
	a := once(`'${ [range(200) | {tool: "shop.send", with: {what: tostring}}] }'`)
	a.Limits = agent.Limits{Calls: 20, Parallel: 3, Repeats: 1000}
	if _, err := s.answer(a); err != nil {
		t.Fatal(err)
	}
	told := s.told()
	refused := slices.IndexFunc(told, func(r model.Result) bool { return r.Failed })
	if len(told) != 200 || refused != 20 || len(s.sent) != 20 || !strings.Contains(told[199].Text, "one answer may ask for 20 calls, and this one asks for 200") {
		t.Errorf("told of %d, refused from %d on, sent %d, last: %s", len(told), refused, len(s.sent), told[len(told)-1].Text)
	}
}

func TestACallThatKeepsFailingEndsTheRun(t *testing.T) {
	s := newSite(t)
	_, err := s.answer(scripted(`replies: [{call: shop.fail, with: {n: 1}}]`))
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Err.Detail != "repeats" || s.billed() != 3 {
		t.Errorf("got %v after %d answers", err, s.billed())
	}
	// What fails with other arguments each time is no loop.
	s = newSite(t)
	got, err := s.answer(scripted(`
replies:
  - when: ${ .turn == 8 }
    say: enough
  - call: shop.fail
    with: { n: "${ .turn }" }`))
	if err != nil || got != "enough" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAnAnswerThatWasCutOffIsNoAnswer(t *testing.T) {
	_, err := newSite(t).answer(scripted(`replies: [{say: "The rent is", cut: true}]`))
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Err.Detail != "cut" {
		t.Errorf("got %v", err)
	}
}

func TestTheModelIsToldOfTheLatestTurnsOnly(t *testing.T) {
	s := newSite(t)
	a := scripted(`
replies:
  - when: ${ [.messages[] | select(.results)] | length > 3 }
    say: told of too much
  - when: ${ .results and .results[0].output.n == 30 }
    say: done
  - call: shop.echo
    with: { n: "${ ((.results[0].output.n) // 0) + 1 }" }`)
	a.Context.Turns = 3
	got, err := s.answer(a)
	if err != nil || got != "done" || s.billed() != 31 {
		t.Fatalf("got %q, %v after %d answers", got, err, s.billed())
	}
	last := s.asked[len(s.asked)-1].Messages
	if len(last) != 7 || last[0].User != s.task {
		t.Errorf("the model was told of %d messages, the first is %q", len(last), last[0].User)
	}
}

func TestALongResultIsCutForTheModelAndWholeInTheLog(t *testing.T) {
	s := newSite(t)
	a := once(`[{tool: shop.echo, with: {text: "` + strings.Repeat("ä", 500) + `"}}]`)
	a.Context.ResultBytes = 101
	if _, err := s.answer(a); err != nil {
		t.Fatal(err)
	}
	got := s.told()[0].Text
	if !strings.HasSuffix(got, "ä\n[cut here: the result has 1011 bytes]") || len(got) > 101+60 {
		t.Errorf("the model was told %q", got)
	}
	for _, e := range s.entries() {
		if e.Kind == journal.Result && e.Step == "call[0][0]" && len(e.Body) != 1011 {
			t.Errorf("the log has %d bytes", len(e.Body))
		}
	}
}

func TestARuleOfTheAgentDeniesAndAsks(t *testing.T) {
	s := newSite(t)
	a := once(`[{tool: shop.echo, with: {n: 1}}, {tool: shop.echo, with: {n: 2}}]`)
	a.Rules = "rules:\n  - {tool: shop.echo, when: \"${ .input.n == 1 }\", do: deny, reason: not one}\n  - {tool: shop.echo, do: ask, reason: look at it}\n"
	_, err := s.answer(a)
	var w *runtime.WaitingError
	if !errors.As(err, &w) || w.Step != "call[0][1]?" || w.Text != "look at it" {
		t.Fatalf("got %v", err)
	}
	res, err := s.finish(a)
	if err != nil || textOf(t, res.Output) != `{"n":2}` {
		t.Fatalf("got %s, %v", res.Output, err)
	}
	if got := texts(s.told()); !strings.Contains(got, "denied: ") || !strings.Contains(got, "not one") {
		t.Errorf("the model was told\n%s", got)
	}
	if len(s.entered) != 1 || s.billed() != 2 {
		t.Errorf("entered %q, the model worked %d times", s.entered, s.billed())
	}
}

func TestAnEditedCallIsMadeAsItWasAgreedTo(t *testing.T) {
	s := newSite(t)
	a := once(`[{tool: shop.ask, with: {what: "5000"}}]`)
	l := s.life(nil)
	_, err := l.run(a, runtime.DriveOptions{})
	var w *runtime.WaitingError
	if !errors.As(err, &w) {
		t.Fatalf("got %v", err)
	}
	if err := l.Answer(t.Context(), "r", "call[0][0]", runtime.Answer{Yes: true, By: "ann", Input: []byte(`{"what":"50"}`)}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time all of it comes from the log
		if res, err := s.life(nil).run(a, runtime.DriveOptions{}); err != nil || !strings.HasSuffix(textOf(t, res.Output), `{"sent":true}`) {
			t.Fatalf("got %s, %v", res.Output, err)
		}
	}
	if len(s.sent) != 1 || s.sent[0] != `{"what":"50"}` {
		t.Errorf("sent %q", s.sent)
	}
	if got := texts(s.told()); got != "[ann changed the arguments to {\"what\":\"50\"}]\n{\"sent\":true}" {
		t.Errorf("the model was told %q", got)
	}
}

// What the agent's rules deny is denied whoever wants it.
func TestARuleIsHeldAgainstTheArgumentsThatSomebodyGave(t *testing.T) {
	s := newSite(t)
	a := once(`[{tool: shop.send, with: {what: "5"}}]`)
	a.Rules = "rules:\n  - {tool: shop.send, when: \"${ .input.what == \\\"all\\\" }\", do: deny, reason: never}\n  - {tool: shop.send, do: ask}\n"
	l := s.life(nil)
	var w *runtime.WaitingError
	if _, err := l.run(a, runtime.DriveOptions{}); !errors.As(err, &w) {
		t.Fatalf("got %v", err)
	}
	if err := l.Answer(t.Context(), "r", "call[0][0]", runtime.Answer{Yes: true, By: "ann", Input: []byte(`{"what":"all"}`)}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time all of it comes from the log
		res, err := s.life(nil).run(a, runtime.DriveOptions{})
		if err != nil || len(s.sent) != 0 || !strings.Contains(textOf(t, res.Output), "the rules of the run do not allow shop.send: never") {
			t.Fatalf("got %s, %v; sent %q", res.Output, err, s.sent)
		}
	}
}

func TestADenialIsWhatTheModelSees(t *testing.T) {
	s := newSite(t)
	a := once(`[{tool: shop.ask, with: {what: "5000"}}]`)
	l := s.life(nil)
	if _, err := l.run(a, runtime.DriveOptions{}); err == nil {
		t.Fatal("nobody was asked")
	}
	if err := l.Answer(t.Context(), "r", "call[0][0]", runtime.Answer{By: "bob", Note: "too much"}); err != nil {
		t.Fatal(err)
	}
	res, err := s.life(nil).run(a, runtime.DriveOptions{})
	if err != nil || !strings.Contains(textOf(t, res.Output), "too much") || len(s.sent) != 0 || len(s.entered) != 0 {
		t.Errorf("got %s, %v; sent %q, entered %q", res.Output, err, s.sent, s.entered)
	}
}

func TestAnAgentThatIsNotInOrderMakesNoRun(t *testing.T) {
	for name, change := range map[string]func(*agent.Agent){
		"a module that there is not": func(a *agent.Agent) { a.Tools = []string{"bank.pay"} },
		"a tool that there is not":   func(a *agent.Agent) { a.Tools = []string{"shop.pay"} },
		"rules with a mistake":       func(a *agent.Agent) { a.Rules = "rules: 7" },
	} {
		a := scripted(`replies: [{say: x}]`)
		change(&a)
		if _, err := a.Spec("task", []runtime.Module{shop}, hostfuncs.Grants{}, toolabi.Limits{}); err == nil {
			t.Errorf("%s: a run was made", name)
		}
	}
}
