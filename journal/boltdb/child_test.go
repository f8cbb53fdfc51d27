package boltdb_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Tests with several processes start this test binary again: with childMode set it does what is said there.
const childMode = "BOLTDB_TEST_CHILD"

func TestMain(m *testing.M) {
	mode := os.Getenv(childMode)
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := childMain(mode, os.Args[1:]); err != nil {
		fmt.Println("ERROR", err)
		os.Exit(1)
	}
}

// childMain is the main function of a child. It prints one line for everything that its parent wants to know.
func childMain(mode string, args []string) error {
	ctx := context.Background()
	path := args[0]
	if mode == "cut off" {
		return childCutOff(ctx, path, args[1], args[2], args[3])
	}
	longest := time.Duration(0)
	mode, waits := strings.CutPrefix(mode, "patient ")
	j, err := boltdb.Create(ctx, path, boltdb.Options{BusyTimeout: patience(waits), OnWait: func(d time.Duration) { longest = max(longest, d) }})
	if err != nil {
		return err
	}
	defer j.Close()
	switch mode {
	case "create":
		id, err := j.ID()
		fmt.Println("ID", id)
		return err
	case "append":
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return childAppend(ctx, j, args[1], n)
	case "append and compact":
		go func() {
			for {
				if _, err := j.Compact(ctx, boltdb.CopyOptions{}); err != nil {
					fmt.Println("ERROR", err)
					return
				}
			}
		}()
		return childAppend(ctx, j, args[1], 0)
	case "compete":
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		fmt.Println("READY")
		if _, err := io.ReadAll(os.Stdin); err != nil {
			return err
		}
		share, err := childCompete(ctx, j, args[1], n)
		if err == nil {
			fmt.Println("SHARE", share, longest.Nanoseconds())
		}
		return err
	case "fill":
		return childFill(ctx, j)
	case "count":
		return childCount(ctx, j, args[1])
	case "hold":
		release, err := boltdb.Hold(ctx, j)
		if err != nil {
			return err
		}
		defer release()
		fmt.Println("HELD")
	case "maintain":
		release, err := boltdb.Maintain(ctx, j, "backup")
		if err != nil {
			return err
		}
		defer release()
		fmt.Println("HELD")
	case "claim":
		id, err := j.Owner()
		if err != nil {
			return err
		}
		if err := j.Append(ctx, "r", 0, created(), journal.Entry{Kind: journal.Claimed, Time: 2, Owner: id}); err != nil {
			return err
		}
		fmt.Println("CLAIMED", id)
	case "own":
		id, err := j.Owner()
		if err != nil {
			return err
		}
		fmt.Println("OWNER", id)
	case "reserve":
		if _, _, err := j.Reserve(ctx, 1<<20); err != nil {
			return err
		}
		id, err := j.Owner()
		if err != nil {
			return err
		}
		fmt.Println("OWNER", id)
	default:
		return fmt.Errorf("no mode %q", mode)
	}
	_, err = io.ReadAll(os.Stdin)
	return err
}

// patience is how long a process waits for the others: by default as people's do, else as long as a test wants that is about something
// else, on a machine that is busy.
func patience(waits bool) time.Duration {
	if waits {
		return 2 * time.Minute
	}
	return 0
}

// childAppend makes a run of 1+n entries, or appends until it is killed when n is 0; each entry has a blob. It tells of
// every entry that is acknowledged, and of the longest append.
func childAppend(ctx context.Context, j *boltdb.Journal, run string, n int) error {
	at := uint64(0)
	for s, err := range j.List(ctx, journal.Query{Run: run}) {
		if err != nil {
			return err
		}
		at = s.Len
	}
	longest := time.Duration(0)
	for ; n == 0 || at <= uint64(n); at++ {
		e := record("x")
		if at == 0 {
			e = created()
		}
		if n == 0 {
			d, size, err := j.Put(ctx, strings.NewReader(fmt.Sprint("blob of entry ", at)))
			if err != nil {
				return err
			}
			e.Blob, e.Size = d, size
		}
		began := time.Now()
		if err := j.Append(ctx, run, at, e); err != nil {
			return err
		}
		longest = max(longest, time.Since(began))
		fmt.Println("ACK", at)
	}
	fmt.Println("LONGEST", longest, "HANDOVERS", boltdb.Handovers(j))
	return nil
}

// childCompete appends to a run of its own until all runs have n entries together, and returns how many it has.
func childCompete(ctx context.Context, j *boltdb.Journal, run string, n int) (at uint64, err error) {
	for all := uint64(0); all < uint64(n); at++ {
		e := record("x")
		if at == 0 {
			e = created()
		}
		if err := j.Append(ctx, run, at, e); err != nil {
			return at, err
		}
		all = 0
		for s, err := range j.List(ctx, journal.Query{}) {
			if err != nil {
				return at, err
			}
			all += s.Len
		}
	}
	return at, nil
}

type child struct {
	*exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
	last  string // the last line that rest has read
}

// start starts a child; it is killed at the end of the test if it still runs.
func start(t *testing.T, mode string, args ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	c.Env = append(os.Environ(), childMode+"="+mode)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	c.stdin, c.lines = in, bufio.NewScanner(out)
	return c
}

// expect returns what follows a word at the beginning of the child's next line.
func (c *child) expect(t *testing.T, word string) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the child ended, want a line with %s", word)
	}
	rest, ok := strings.CutPrefix(c.lines.Text(), word)
	if !ok {
		t.Fatalf("the child said %q, want %s", c.lines.Text(), word)
	}
	return strings.TrimSpace(rest)
}

// rest reads what a child says until it ends, and returns the number of its last acknowledged entry, -1 for none.
func (c *child) rest(t *testing.T) (acked int) {
	t.Helper()
	acked = -1
	for c.lines.Scan() {
		c.last = c.lines.Text()
		if n, ok := strings.CutPrefix(c.last, "ACK "); ok {
			acked = number(t, n)
		}
	}
	return acked
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("a child said %q, want a number", s)
	}
	return n
}
