package big

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// watched runs a command to its end and looks at its memory meanwhile, several times in a second.
func (b *big) watched(ctx context.Context, p trials.Program, args ...string) (Use, error) {
	proc, err := p.Start(args...)
	if err != nil {
		return Use{}, err
	}
	var use Use
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for done := false; !done; {
		select {
		case <-proc.Dead():
			done = true
		case <-ctx.Done():
			done = true // Wait kills it
		case <-look.C:
			use.Anonymous = max(use.Anonymous, anonymous(proc.PID()))
		}
	}
	exit, err := proc.Wait(ctx)
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("%v: exit code %d\n%s", args, exit.Code, exit.Stderr)
	}
	use.Took = exit.Took
	return use, err
}

// anonymous is how much memory a process has that is not mapped from files, in bytes; 0 when that is not known here.
func anonymous(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(b, []byte("\nRssAnon:"))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	kb, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
