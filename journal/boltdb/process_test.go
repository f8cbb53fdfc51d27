package boltdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
