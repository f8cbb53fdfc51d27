// Package plan drives a run by a plan: a YAML file that lists the tools to call, one after the other or several at once,
// with jq expressions between them. docs/plans.md describes the format for those who write plans.
//
// A plan is judged completely before anything runs: Parse reports every mistake that can be found without running, with
// its line. Afterwards a Plan does nothing but ask a Caller for steps, and what it asks depends only on its text, its input
// and the answers, not on which of several answers comes first. That is what lets a run be resumed: the same plan asks for
// the same steps and finds the answers in the log. So expressions have no clock, no environment, no files and no randomness,
// and nothing that was begun is broken off because something beside it failed.
//
// The package does not open files, load modules, check inputs against schemas or write journals: the caller does. It is
// not a bound on memory either: an expression is stopped after a fixed amount of work, but who may write a plan is
// trusted as much as who may write a script.
package plan
