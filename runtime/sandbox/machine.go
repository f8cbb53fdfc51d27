package sandbox

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// DefaultMemoryBudget is how much memory all calls together may hold on this machine where Config does not say, in bytes.
func DefaultMemoryBudget() uint64 { return defaultBudget(machineMemory()) }

// defaultBudget is half of what the machine has, at most 4 GiB; a machine that does not say what it has is taken for one of
// 2 GiB.
func defaultBudget(machine uint64) uint64 {
	if machine == 0 {
		machine = 2 << 30
	}
	return min(machine/2, 4<<30)
}

// containerFiles hold the limit of the container, in the two versions of Linux's control groups. Elsewhere they do not exist.
var containerFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// containerMemory returns the limit on memory of the container that the process is in, in bytes, 0 when there is none.
func containerMemory(files []string) uint64 {
	least := uint64(math.MaxUint64)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 63); err == nil && n > 0 { // or "max"
			least = min(least, n)
		}
	}
	if least == math.MaxUint64 {
		return 0
	}
	return least
}
