package main

import (
	"errors"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/runtime"
)

// agentProblem knows what can be wrong with an agent and the model that it asks.
func (a *app) agentProblem(err error) (problem, bool) {
	var (
		changed *agent.ChangedError
		other   *otherModelError
		text    *agent.Error
		key     *agent.KeyError
		failed  *runtime.FailedError
	)
	switch {
	case errors.As(err, &changed):
		return problem{
			code: codeOtherRun, title: changed.Error(), known: strings.TrimRight(changed.Diff, "\n"),
			next: a.cmd("resume "+changed.Run) + "\nthe same command, with another --id",
		}, true
	case errors.As(err, &other):
		return problem{
			code: codeModelChoice, title: other.Error(), known: other.diff(),
			next: "the same command, without " + envModel + ", " + envBaseURL + " and " + envKey,
		}, true
	case errors.As(err, &key):
		return problem{
			code: codeModelKey, next: a.cmd("resume "+key.Run) + ", once it can be read",
		}, true
	case errors.As(err, &failed) && failed.Err != nil && agent.FailedStep(failed.Err) != "":
		return a.unanswered(failed), true
	case errors.As(err, &text):
		return problem{code: codeAgent, title: err.Error()}, true
	}
	return problem{}, false
}

// unanswered is what is known of a run that is closed because its model did not answer.
func (a *app) unanswered(f *runtime.FailedError) problem {
	p := a.failedProblem(f)
	p.next += "\n" + a.cmd("fork "+f.Run+" --at "+quoted(string(agent.FailedStep(f.Err)))) + ", which has all that was answered before"
	if f.Err.Detail == agent.DetailKeyRefused {
		p.code = codeModelKey
		p.known = "the key comes from where " + envKey + " said when the run began, else from the provider's own variable"
	}
	return p
}
