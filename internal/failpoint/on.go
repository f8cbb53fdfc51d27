//go:build wrun_failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// On says whether places can fail.
const On = true

// wanted is what the environment wants to happen.
var wanted = sync.OnceValue(func() (w struct {
	name, action string
	nth          int64
}) {
	parts := append(strings.Split(os.Getenv("WRUN_FAIL"), ":"), "", "")
	w.name, w.action, w.nth = parts[0], parts[1], 1
	if n, err := strconv.ParseInt(parts[2], 10, 64); err == nil {
		w.nth = n
	}
	return w
})

var seen atomic.Int64

// Hit says that a place was reached. It may be called concurrently. Where the environment wants it to, the process dies here, or Hit
// never returns, or returns an error.
func Hit(name string) error {
	w := wanted()
	if name == "" || w.name != name || seen.Add(1) != w.nth {
		return nil
	}
	if mark := os.Getenv("WRUN_FAIL_MARK"); mark != "" {
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			panic(err)
		}
	}
	switch w.action {
	case "kill":
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill() // what follows waits for it
		}
		fallthrough
	case "hang":
		select {}
	case "error":
		return fmt.Errorf("failpoint %s", name)
	}
	panic(fmt.Sprintf("WRUN_FAIL: action %q is none of kill, error, hang", w.action))
}
