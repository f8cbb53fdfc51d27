// Package journaltest holds what tests of journals, and tests on top of journals, need: Run is the suite that every
// journal passes, Mem a journal in memory, Crasher one that fails at a chosen append, Check the invariants that every
// test asserts at its end.
//
// It is not for use outside tests, of which `wrun test` is one: Mem keeps nothing, and nothing here is fast.
package journaltest

import (
	"context"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// Store is a journal with everything that a journal may offer.
type Store interface {
	journal.Journal
	journal.KV
	journal.Blobs
	journal.Owners
	journal.Identity
	journal.Room
	journal.Sizer
}

// Check reports as errors of t everything that journal.Verify finds wrong in j.
func Check(t testing.TB, j journal.Journal) {
	t.Helper()
	for fault := range journal.Verify(context.WithoutCancel(t.Context()), j) {
		t.Errorf("journal: %v", fault)
	}
}

// CheckOnCleanup runs Check when the test ends. Cleanups run in reverse order, so close j in an earlier one.
func CheckOnCleanup(t testing.TB, j journal.Journal) {
	t.Helper()
	t.Cleanup(func() {
		t.Helper()
		Check(t, j)
	})
}
