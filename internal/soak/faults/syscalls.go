package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// failing is a system call that strace lets fail.
type failing struct {
	call   string
	errors []string
	// ours: only where it is about the journal's file, since Go's runtime makes the same calls for itself, and dies when they fail.
	ours bool
}

// failings are what can fail below a journal and its blobs. Plain writes are not among them: Go's runtime makes them for
// itself. EINTR is what a signal does to the calls that wait.
var failings = []failing{
	{"pwrite64", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS", "EINTR"}, false},
	{"fdatasync", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS"}, false},
	{"fsync", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS", "EINTR"}, false},
	{"ftruncate", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS", "EINTR"}, false},
	{"openat", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS", "EINTR"}, false},
	{"renameat", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS"}, false},
	{"renameat2", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS"}, false},
	{"linkat", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS"}, false},
	{"mkdirat", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS"}, false},
	{"unlinkat", []string{"EIO", "EROFS"}, false},
	{"flock", []string{"EIO", "ENOLCK", "EINTR"}, false},
	{"fallocate", []string{"EIO", "ENOSPC", "EDQUOT", "EROFS", "EOPNOTSUPP", "EINTR"}, false},
	{"mmap", []string{"ENOMEM", "EIO"}, true},
}

// injection is one trial: what happens to the nth call of a name, or from it on.
type injection struct {
	failing
	how  string // error=EIO, or signal=KILL
	nth  int
	ever bool
}

func (i injection) String() string { return fmt.Sprintf("%s:%s:when=%s", i.call, i.how, i.when()) }

func (i injection) when() string {
	if i.ever {
		return strconv.Itoa(i.nth) + "+"
	}
	return strconv.Itoa(i.nth)
}

// prefix is what wrun is started under. strace counts the calls of each thread for itself.
func (i injection) prefix(out, journal string) []string {
	argv := []string{"strace", "-f", "--seccomp-bpf", "-qq", "-o", out, "-e", "trace=" + i.call, "-e", "signal=none"}
	if i.ours {
		argv = append(argv, "-P", journal)
	}
	if i.how != "" {
		argv = append(argv, "-e", "inject="+i.String())
	}
	return argv
}

// everyInjection lists them, by how often each call is made in a run that nobody disturbs.
func everyInjection(calls map[string]int) (all []injection) {
	for _, f := range failings {
		for nth := 1; nth <= calls[f.call]; nth++ {
			for _, e := range f.errors {
				all = append(all, injection{f, "error=" + e, nth, false})
				if e != "EINTR" { // which whoever calls takes as an invitation to try again
					all = append(all, injection{f, "error=" + e, nth, true})
				}
			}
			if slices.Contains([]string{"pwrite64", "fdatasync", "fsync", "ftruncate", "renameat"}, f.call) {
				all = append(all, injection{f, "signal=KILL", nth, false})
			}
		}
	}
	return all
}

// syscalls lets system calls of wrun fail, one after the other, until a run ends without the fault.
func (t *tier) syscalls(ctx context.Context, row *Row) error {
	if _, err := exec.LookPath("strace"); err != nil {
		return errSkip("there is no strace")
	}
	var once sync.Once
	var all []injection
	var counting error
	return t.each(ctx, row, func(i int) bool { return all != nil && i >= len(all) }, func(ctx context.Context, b *bench, i int, _ *rand.Rand) error {
		once.Do(func() {
			var calls map[string]int
			if calls, counting = b.countCalls(ctx); counting == nil {
				all = t.some(everyInjection(calls))
			}
		})
		if counting != nil {
			return counting
		}
		if i >= len(all) {
			return nil
		}
		return b.inject(ctx, row, i, all[i])
	})
}

// some keeps a share, with the seed's choice.
func (t *tier) some(all []injection) []injection {
	r := rand.New(rand.NewPCG(t.Seed, 99))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:t.part(len(all))]
}

// countCalls counts the calls of a run, by their names: those of all threads, which is more than any of them makes.
func (b *bench) countCalls(ctx context.Context) (map[string]int, error) {
	calls := map[string]int{}
	for _, f := range failings {
		dir := filepath.Join(b.dir, "count-"+f.call)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		t := b.trial(kindSyscall, filepath.Join(dir, "journal.db"), "mixed", "count-"+f.call)
		out := filepath.Join(b.dir, "calls")
		t.prefix = injection{failing: f}.prefix(out, t.journal)
		exit, err := t.do(ctx, 0, nil, t.begin()...)
		if err != nil {
			return nil, err
		}
		if exit.Code != exitOK {
			return nil, fmt.Errorf("traced: exit code %d\n%s", exit.Code, exit.Stderr)
		}
		said, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		calls[f.call] = strings.Count(string(said), f.call+"(")
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// inject makes one trial.
func (b *bench) inject(ctx context.Context, row *Row, i int, what injection) error {
	if err := b.oracle.behave(ctx, ledger.Behaviour{}); err != nil {
		return err
	}
	dir := filepath.Join(b.dir, fmt.Sprint("syscall-", i))
	if err := os.MkdirAll(dir, 0o700); err != nil { // -P wants it
		return err
	}
	t := b.trial(kindSyscall, filepath.Join(dir, "journal.db"), "mixed", fmt.Sprint("f", i))
	out := filepath.Join(b.dir, "injected")
	t.prefix = what.prefix(out, t.journal)
	_, err := t.do(ctx, 0, nil, t.begin()...)
	t.prefix = nil
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	said, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if what.call == "unlinkat" { // what cannot be removed stays
		t.killed += tempsOfCut
	}
	landed := min(1, strings.Count(string(said), "(INJECTED)")+strings.Count(string(said), "killed by SIGKILL"))
	if err := t.done(ctx, row, what.String(), landed); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return os.RemoveAll(dir)
}
