package boltdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// rooms are the files of the rooms beside a journal.
func rooms(t *testing.T, path string) (names []string, size int64) {
	t.Helper()
	files, err := filepath.Glob(path + ".owners/*.room*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		names, size = append(names, filepath.Base(f)), size+info.Size()
	}
	return names, size
}

// An effect after the first costs no growing and no shrinking, and Close leaves nothing.
func TestTheRoomStaysAsItIsFromEffectToEffect(t *testing.T) {
	j := create(t, t.TempDir())
	if names, _ := rooms(t, j.Path()); names != nil {
		t.Errorf("before anything was held there are %v", names)
	}
	var before os.FileInfo
	for range 5 {
		use, drop, err := j.Reserve(t.Context(), 8<<20)
		if err != nil {
			t.Fatal(err)
		}
		use()
		drop()
		names, size := rooms(t, j.Path())
		if len(names) != 4 || size < 9<<20 || size > 11<<20 {
			t.Fatalf("the room is %v, %d bytes, want one file of 9 to 11 MiB and three empty ones", names, size)
		}
		info, err := os.Stat(filepath.Join(j.Path()+".owners", names[0]))
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !before.ModTime().Equal(info.ModTime()) {
			t.Errorf("the room was changed at %s and again at %s", before.ModTime(), info.ModTime())
		}
		before = info
	}
	_, drop, err := j.Reserve(t.Context(), 100<<20)
	if err != nil {
		t.Skip("SKIPPED: there is no space for 100 MB: ", err)
	}
	drop()
	if _, size := rooms(t, j.Path()); size > 32<<20 {
		t.Errorf("the room is %d bytes long although nothing is held", size)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if names, _ := rooms(t, j.Path()); names != nil {
		t.Errorf("after Close there are %v", names)
	}
}

// What a killed process holds is given back by the next one that registers, not only once there are many of the dead.
func TestTheRoomOfTheDeadIsGivenBackAtOnce(t *testing.T) {
	j := create(t, t.TempDir())
	mine, drop, err := j.Reserve(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer mine()
	defer drop()
	c := start(t, "reserve", j.Path())
	owner := c.expect(t, "OWNER")
	if names, _ := rooms(t, j.Path()); len(names) != 8 {
		t.Errorf("two processes hold %v", names)
	}
	c.Process.Kill()
	c.Wait()
	next, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if _, err := next.Owner(); err != nil {
		t.Fatal(err)
	}
	names, _ := rooms(t, j.Path())
	if len(names) != 4 || strings.HasPrefix(names[0], owner) {
		t.Errorf("after the death of one they hold %v", names)
	}
	if got, err := j.Liveness(owner); got != journal.Dead || err != nil {
		t.Errorf("the dead owner is %d, %v", got, err)
	}
}

// BenchmarkEffect is a reservation, an intent and a result; without Reserve it is the same less what that costs.
func BenchmarkEffect(b *testing.B) {
	for _, reserve := range []bool{false, true} {
		b.Run(map[bool]string{false: "unreserved", true: "reserved"}[reserve], func(b *testing.B) {
			j := create(b, b.TempDir())
			me, err := j.Owner()
			if err != nil {
				b.Fatal(err)
			}
			claimed := journal.Entry{Kind: journal.Claimed, Time: 1, Owner: me}
			if err := j.Append(b.Context(), "r", 0, created(), claimed); err != nil {
				b.Fatal(err)
			}
			at := uint64(2)
			for b.Loop() {
				use := func() {}
				if reserve {
					if use, _, err = j.Reserve(b.Context(), 8<<20); err != nil {
						b.Fatal(err)
					}
				}
				step := journal.Step(fmt.Sprint("s", at))
				in := journal.Entry{
					Kind: journal.Intent, Time: 2, Step: step, Name: "x", OnCut: journal.Doubt, Owner: me, Key: "k", SendBy: 1 << 62,
					Request: journal.DigestOf([]byte(step)),
				}
				res := journal.Entry{Kind: journal.Result, Time: 2, Step: step, Owner: me, Outcome: journal.OK, Effect: journal.EffectApplied}
				if err := j.Append(b.Context(), "r", at, in); err != nil {
					b.Fatal(err)
				}
				use()
				if err := j.Append(b.Context(), "r", at+1, res); err != nil {
					b.Fatal(err)
				}
				at += 2
			}
		})
	}
}
