package boltdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// No append of any process may run into the busy timeout: a child that did would have ended with an error.
func TestProcessesShareAJournal(t *testing.T) {
	for _, processes := range []int{2, 8} {
		t.Run(fmt.Sprint(processes), func(t *testing.T) {
			const each = 40
			j := create(t, t.TempDir())
			journaltest.CheckOnCleanup(t, j)
			var children []*child
			for i := range processes {
				children = append(children, start(t, "append", j.Path(), fmt.Sprint("run-", i), fmt.Sprint(each)))
			}
			for i, c := range children {
				acked := c.rest(t)
				if err := c.Wait(); err != nil || acked != each {
					t.Errorf("process %d: %v, %d entries acknowledged, want %d: %s", i, err, acked, each, c.last)
				}
				t.Logf("process %d: %s", i, strings.ToLower(c.last))
			}
			for i := range processes {
				if got := length(t, j, fmt.Sprint("run-", i)); got != 1+each {
					t.Errorf("run-%d has %d entries, want %d", i, got, 1+each)
				}
			}
		})
	}
}

func TestABusyProcessLetsOthersIn(t *testing.T) {
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	busy := start(t, "append", j.Path(), "busy", "0")
	for i := range 20 {
		busy.expect(t, "ACK")
		other, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if length(t, other, "busy") == 0 {
			t.Error("the busy run cannot be read")
		}
		if err := other.Append(t.Context(), fmt.Sprint("run-", i), 0, created()); err != nil {
			t.Error(err)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
	busy.Process.Kill()
	busy.Wait()
}

func TestProcessesThatCreateAtOnceGetTheSameJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub")
	path := filepath.Join(dir, "journal.db")
	var children []*child
	for range 6 {
		children = append(children, start(t, "create", path))
	}
	ids := map[string]int{}
	for _, c := range children {
		ids[c.expect(t, "ID")]++
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if len(ids) != 1 {
		t.Errorf("they made %d journals, want one: %v", len(ids), ids)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("they left %v, %v, want journal, lock, wait", files, err)
	}
}

func TestAKilledCreatorLeavesAWholeJournalOrNone(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		path := filepath.Join(dir, fmt.Sprint(i), "journal.db")
		c := start(t, "create", path)
		for range i * 20000 { // a little later every time
			_ = os.Getpid()
		}
		c.Process.Kill()
		c.Wait()
		journaltest.Check(t, create(t, filepath.Dir(path)))
		files, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(files) != 3 {
			t.Errorf("it left %v, %v, want journal, lock, wait", files, err)
		}
	}
}

// What was acknowledged is there after a kill, and at most the one append that was under way besides.
func TestAKilledProcessLosesNothingThatWasAcknowledged(t *testing.T) {
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	for i := range 8 {
		c := start(t, "append", j.Path(), "r", "0")
		told := ""
		for range 5 + 3*i {
			told = c.expect(t, "ACK")
		}
		c.Process.Kill()
		acked := max(number(t, told), c.rest(t))
		c.Wait()
		if got := length(t, j, "r"); got < acked+1 || got > acked+2 {
			t.Errorf("entry %d was acknowledged, the log has %d entries", acked, got)
		}
	}
}

func TestTheOwnerOfAKilledProcessIsDeadAtOnce(t *testing.T) {
	j := create(t, t.TempDir())
	c := start(t, "own", j.Path())
	owner := c.expect(t, "OWNER")
	if got, err := j.Liveness(owner); got != journal.Alive || err != nil {
		t.Errorf("before: got %d, %v, want alive", got, err)
	}
	if got, want := j.Describe(owner), fmt.Sprintf("process %d, since ", c.Process.Pid); !strings.HasPrefix(got, want) {
		t.Errorf("it is described as %q, want %q…", got, want)
	}
	c.Process.Kill()
	c.Wait()
	if got, err := j.Liveness(owner); got != journal.Dead || err != nil {
		t.Errorf("after: got %d, %v, want dead", got, err)
	}
}

// Of eight that want the journal at every moment each gets its share, and nobody waits long.
func TestProcessesThatCompeteAllGetTheirShare(t *testing.T) {
	const processes, each = 8, 40
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	var children []*child
	for i := range processes {
		children = append(children, start(t, "compete", j.Path(), fmt.Sprint("run-", i), fmt.Sprint(processes*each)))
	}
	for _, c := range children {
		c.expect(t, "READY")
	}
	for _, c := range children {
		c.stdin.Close()
	}
	for i, c := range children {
		share, wait, _ := strings.Cut(c.expect(t, "SHARE"), " ")
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
		longest := time.Duration(number(t, wait))
		t.Logf("process %d: %s of %d appends, waited at most %s", i, share, processes*each, longest)
		if n := number(t, share); n < each/5 {
			t.Errorf("process %d made %d of %d appends, want about %d", i, n, processes*each, each)
		}
		if longest > 5*time.Second { // five times what is promised
			t.Errorf("process %d waited %s", i, longest)
		}
	}
}

// A process that is killed while it hands the journal over, holds it, or waits for it, takes nothing with it, and the next goes on.
func TestAKillInAHandOverHoldsNobodyUp(t *testing.T) {
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	other := start(t, "append", j.Path(), "other", "0")
	acked := -1
	for i := range 12 {
		run := fmt.Sprint("killed-", i)
		c := start(t, "append", j.Path(), run, "0")
		told := ""
		for range 1 + 2*i {
			told = c.expect(t, "ACK")
		}
		c.Process.Kill()
		last := max(number(t, told), c.rest(t))
		c.Wait()
		if err := j.Append(t.Context(), fmt.Sprint("ours-", i), 0, created()); err != nil {
			t.Fatal(err)
		}
		before := number(t, other.expect(t, "ACK"))
		if before != acked+1 {
			t.Fatalf("the other process acknowledged entry %d after %d", before, acked)
		}
		acked = before
		if got := length(t, j, run); got < last+1 || got > last+2 {
			t.Errorf("entry %d was acknowledged, the log has %d entries", last, got)
		}
	}
	other.Process.Kill()
	acked = max(acked, other.rest(t))
	other.Wait()
	if got := length(t, j, "other"); got < acked+1 || got > acked+2 {
		t.Errorf("entry %d was acknowledged, the log has %d entries", acked, got)
	}
}

// A waiter that is killed while it waits is forgotten at once: nobody is let in who is not there.
func TestAKilledWaiterHoldsNobodyUp(t *testing.T) {
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	for i := range 5 {
		release, err := boltdb.Hold(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		c := start(t, "append", j.Path(), fmt.Sprint("theirs-", i), "1")
		waitWanted(t, j)
		c.Process.Kill()
		c.Wait()
		release()
		if boltdb.Wanted(j) {
			t.Error("the dead still wait")
		}
		if err := j.Append(t.Context(), fmt.Sprint("ours-", i), 0, created()); err != nil {
			t.Fatal(err)
		}
		if got := length(t, j, fmt.Sprint("theirs-", i)); got != 0 {
			t.Errorf("the dead waiter's log has %d entries", got)
		}
	}
}
