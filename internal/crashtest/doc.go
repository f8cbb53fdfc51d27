// Package crashtest kills a whole run at every place where a process can die, lets others go on with it, and holds what came of it
// against a run that nobody disturbed: what the world was made to do, what the run returned, what a model was paid for.
//
// The world is one of package world. It is served by the process that judges, and so outlives the processes that are killed; those
// are started through the interface Child, one after the other on one journal. In each runs a Life: it drives the run, and where the
// run stops it does what people do, with what the world knows. The clock stands still but for waits, which it jumps over.
//
// It is not about the loss of power, nor about instants inside of the engine that leave nothing behind: from outside a process dies
// before an append, after it, or when an effect has taken place that is not recorded yet.
package crashtest
