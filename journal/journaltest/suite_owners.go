package journaltest

import (
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testOwners(t *testing.T) {
	dir := t.TempDir()
	a, b := m.openDir(t, dir), m.Open(t, dir)
	one, err := a.Owner()
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.Owner()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := a.Owner(); one == "" || one == other || again != one {
		t.Errorf("owners are %q, again %q, and %q", one, again, other)
	}
	expect := func(j Store, owner string, want journal.Liveness) {
		t.Helper()
		if got, err := j.Liveness(owner); got != want || err != nil {
			t.Errorf("liveness of %q: got %d, %v, want %d", owner, got, err, want)
		}
	}
	expect(a, one, journal.Alive)
	expect(b, one, journal.Alive)
	expect(a, other, journal.Alive)
	for _, nobody := range []string{"never-seen", "", "..", "../" + one, "a/b", "x\x00y", one + "\n"} {
		expect(a, nobody, journal.Unknown)
		if got := a.Describe(nobody); got != "" {
			t.Errorf("%q is described as %q", nobody, got)
		}
	}
	if a.Describe(one) == "" || b.Describe(one) != a.Describe(one) {
		t.Errorf("an owner is described as %q and %q", a.Describe(one), b.Describe(one))
	}
	claimed := journal.Entry{Kind: journal.Claimed, Time: 2, Owner: other}
	if err := b.Append(t.Context(), "owned", 0, created(1), claimed); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	expect(a, other, journal.Dead)
	expect(a, one, journal.Alive)
}

func (m Maker) testIdentity(t *testing.T) {
	dir := t.TempDir()
	a, b, c := m.openDir(t, dir), m.openDir(t, dir), m.open(t)
	id, err := a.ID()
	if err != nil || id.IsZero() {
		t.Fatalf("the journal's id is %s, %v", id.Short(), err)
	}
	if again, err := b.ID(); again != id || err != nil {
		t.Errorf("another handle says %s, %v, want %s", again.Short(), err, id.Short())
	}
	if other, err := c.ID(); other == id || err != nil {
		t.Errorf("another journal has id %s, %v too", other.Short(), err)
	}
}
