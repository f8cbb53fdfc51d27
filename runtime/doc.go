// Package runtime is the engine: it starts runs, drives them, and settles what nobody knows.
//
// A driver decides a run's next step; step.go is the one way of a step into and out of the log. Resuming is not another
// path: it is the same one, which finds its answers in the log.
//
// The package knows neither WebAssembly (an Invoker enters modules) nor any store (a journal.Journal keeps the log),
// and what a host function does is hostfuncs' business.
package runtime
