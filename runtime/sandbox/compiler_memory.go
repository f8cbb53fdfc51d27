package sandbox

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// headroom is what the system lets the process have beyond its limit, in bytes: stacks of threads count in full there, and a
// process that has no memory left dies in ways that do not say why.
const headroom = 256 << 20

// boundMemory ends the process with exitMemory when Go uses more memory than limit, in bytes, which is looked at a hundred
// times a second; where the system can bound a process, it does so above that, for what is faster.
func boundMemory(limit uint64) error {
	debug.SetMemoryLimit(int64(limit - limit/8)) // collect garbage before it is over
	go func() {
		used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for range time.Tick(10 * time.Millisecond) {
			metrics.Read(used)
			if used[0].Value.Uint64()-used[1].Value.Uint64() > limit {
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(exitMemory)
			}
		}
	}()
	return limitMemory(limit + headroom)
}
