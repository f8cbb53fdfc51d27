// Package faults tests what wrun promises against everything that can go wrong below it: processes that die, power that is cut,
// system calls that fail, disks that are full, files that rot. docs/reliability.md says what is promised and how each fault is
// made.
//
// Every trial drives the real program, or a bare writer where numbers are wanted, and what it has left is held against the
// same invariants by one function. What really happened is counted by an oracle, a process of its own with a file of its own.
//
// The kills of the payments module and of agents are those of packages trials and agents; single crash points of the engine are
// visited by the tests of package runtime and of the root package.
package faults
