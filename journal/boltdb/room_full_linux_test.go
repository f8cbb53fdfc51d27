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

// What is held for an outcome is enough for its pin too, whatever is used up meanwhile: the effect has taken place by then.
func TestWhatIsHeldIsEnoughForThePinOfAnOutcome(t *testing.T) {
	for _, full := range []string{"inodes", "blocks", "both"} {
		t.Run(full, func(t *testing.T) {
			dir := newTmpfs(t, "size=64m,nr_inodes=200")
			j, err := boltdb.Create(t.Context(), filepath.Join(dir, "journal.db"), boltdb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			me, err := j.Owner()
			if err != nil {
				t.Fatal(err)
			}
			intent := func(step journal.Step) journal.Entry {
				return journal.Entry{
					Kind: journal.Intent, Time: 1, Step: step, Name: "x", OnCut: journal.Doubt, Owner: me, Key: "k", SendBy: 1 << 62,
					Request: journal.DigestOf([]byte(step)),
				}
			}
			use, drop, err := j.Reserve(t.Context(), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer drop()
			if err := j.Append(t.Context(), "r", 0, created(), journal.Entry{Kind: journal.Claimed, Time: 1, Owner: me}, intent("a")); err != nil {
				t.Fatal(err)
			}
			if full != "blocks" {
				for i := 0; ; i++ {
					f, err := os.Create(filepath.Join(dir, fmt.Sprint("other-", i)))
					if err != nil {
						break
					}
					f.Close()
				}
			}
			if full != "inodes" {
				fillUp(t, filepath.Join(dir, "other-0"))
			}
			use()
			d, n, err := j.Put(t.Context(), strings.NewReader(strings.Repeat("y", 1<<20)))
			if err != nil {
				t.Fatalf("the body of the outcome is not stored: %v", err)
			}
			res := journal.Entry{Kind: journal.Result, Time: 1, Step: "a", Owner: me, Outcome: journal.OK, Effect: journal.EffectApplied, Blob: d, Size: n}
			if err := j.Append(t.Context(), "r", 3, res); err != nil {
				t.Fatalf("the outcome is not recorded: %v", err)
			}
		})
	}
}
