// Package trials kills the real program at random instants, resumes what it left, and holds the journal against a ledger
// that counts what really happened: every charge must have taken place once, and what was recorded must stay recorded.
//
// It uses wrun as people do, through its command line, in processes of their own. It is not for single crash points,
// which the tests of the root package and of package runtime visit one by one, nor for the loss of power: what a killed
// process has written stays in the system's cache.
package trials
