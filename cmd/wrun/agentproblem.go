package main

import (
	"errors"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent"
)

// agentProblem knows what can be wrong with an agent and the model that it asks.
func (a *app) agentProblem(err error) (problem, bool) {
	var (
		changed *agent.ChangedError
		other   *otherModelError
		text    *agent.Error
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
	case errors.As(err, &text):
		return problem{code: codeAgent, title: err.Error()}, true
	}
	return problem{}, false
}
