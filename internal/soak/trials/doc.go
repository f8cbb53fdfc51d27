// Package trials kills the real program at random instants, resumes what it left, and holds the journal against a ledger
// that counts what really happened: every charge must have taken place once, and what was recorded must stay recorded.
//
// The ledger can be any of several providers, and what is demanded depends on which. One that honours idempotency keys has
// every charge once, and nobody is asked. One that ignores them, drops the connection after acting, or acts late, has every
// charge once too, a person says what became of what is in doubt, and no request follows one that acted. Where the tool has a
// look-up no person says so: wrun asks it, and waits where the ledger may be working on a request still. One that refuses has
// none where a call was declined, and at most one where the call says that it is not settled.
//
// It uses wrun as people do, through its command line, in processes of their own. It is not for single crash points,
// which the tests of the root package and of package runtime visit one by one, nor for the loss of power: what a killed
// process has written stays in the system's cache.
package trials
