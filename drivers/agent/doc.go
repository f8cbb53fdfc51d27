// Package agent drives runs in which a model decides what is done next. It asks the model, records the decision before anything
// is done about it, calls the tools that the model asks for, and asks again with what came of them, until the model answers
// without asking for a tool.
//
// The conversation is not stored. It is derived again, each time that the run is driven, from the same answers and results in
// the same order, which are steps of the run: "model[3]" is the fourth answer of the model, "call[3][0]" the first tool that
// it asked for. docs/agents.md describes the file for those who write one.
//
// The package does not speak the models' protocols (package model does), does not find modules, and asks no person: what a
// rule or a tool wants somebody to agree to is a question in the run's log, which this driver has no way to answer.
package agent
