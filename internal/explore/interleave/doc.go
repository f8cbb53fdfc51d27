// Package interleave explores the recovery protocol: it drives the real engine and the real rules of the log through one
// interleaving after the other, and holds each against what was promised. Everything around them is simulated and under
// one scheduler: the journal's store, the provider and the network to it, the clock, the people, and the processes, which
// can be killed, stopped and started at every point where they wait for something.
//
// What happens next is drawn from a seed, so that a seed is an interleaving, and one that fails can be made shorter.
//
// It is not for what the code does on a disk, under a real sandbox or with real sockets: the crash tests, the soak and the
// power cuts are for that.
package interleave
