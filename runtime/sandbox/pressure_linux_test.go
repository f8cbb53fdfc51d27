package sandbox_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// imageName is in the name of the mappings of a kept instance's memory, if there are any.
const imageName = "wrun-image"

// TestNothingSurvivesInPagesThatWereSwapped pushes pages out to swap while a call waits for its host, with what it has left in them,
// and again before the next one looks.
func TestNothingSurvivesInPagesThatWereSwapped(t *testing.T) {
	oneByOne(t)
	if os.Getenv(isolatedTest) != t.Name() {
		swapOn(t)
	}
	if !isolated(t) {
		return
	}
	var out pushed
	for _, k := range pressed(t) {
		box := keeperBox(t, k)
		for _, o := range k.of([]order{{words: "leave ask"}, {words: "grow leave ask"}, {words: "look ask"}}) {
			k.same(t, box, o, moments[0], func() { out.push(t, true) })
			k.same(t, box, looks[0], moments[1])
			k.same(t, box, o, moments[0])
			out.push(t, false)
			k.same(t, box, looks[0], moments[1])
		}
	}
	t.Logf("pushed out %d times, in all %d MiB, and %d MiB of mappings that are named %s", out.times, out.all>>20, out.named>>20, imageName)
}

// TestNothingSurvivesWhereMemoryIsReclaimed has the kernel take back all memory of the process that it can, again and again, while one
// call waits for its host and others are wherever they are.
func TestNothingSurvivesWhereMemoryIsReclaimed(t *testing.T) {
	if os.Getenv(isolatedTest) != t.Name() {
		swapOn(t)
		t.Setenv(reclaimVariable, controlGroup(t))
	}
	if !isolated(t) {
		return
	}
	file := os.Getenv(reclaimVariable)
	must(t, os.WriteFile(filepath.Join(filepath.Dir(file), "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0))
	keepers := pressed(t)
	box := keeperBox(t, keepers...)
	var wg sync.WaitGroup
	var most atomic.Int64
	for g := range 3 {
		chance := rand.New(rand.NewPCG(uint64(g), 2))
		wg.Go(func() {
			for range 12 {
				k := keepers[chance.IntN(len(keepers))]
				leaves := k.of([]order{{words: "leave ask"}, {words: "grow leave ask"}, {words: "leave ask trap"}})
				k.same(t, box, leaves[chance.IntN(len(leaves))], moments[0], func() {
					if chance.IntN(3) == 0 {
						reclaim(t, file)
						most.Store(max(most.Load(), status("VmSwap:")))
					}
				})
				k.same(t, box, looks[0], moments[1])
			}
		})
	}
	wg.Wait()
	t.Logf("%d MiB were in swap at most", most.Load()>>20)
	if most.Load() == 0 {
		t.Error("nothing was swapped")
	}
}

// pressed are the keepers that put pages to use.
func pressed(t *testing.T) []keeper {
	list := slices.Clone(languages(t))
	for _, p := range memories() {
		if slices.Contains([]string{"a byte of each system page", "what it grew by", "what the host wrote"}, p.name) {
			list = append(list, p.keeper(t))
		}
	}
	return list
}

// pushed counts what was in swap after each push.
type pushed struct {
	times      int
	all, named int64 // bytes
}

// push asks the kernel to reclaim all memory of the process now. What a call has written must be in swap then, unless it is over.
func (p *pushed) push(t testing.TB, within bool) {
	onEachProcessor(t, func() { // each keeps pages for itself that it has used lately
		for _, m := range privateMappings(t) {
			_, _, errno := unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_PAGEOUT)
			if errno != 0 && errno != unix.EINVAL && errno != unix.ENOMEM { // pages that are locked stay; a mapping may be gone
				t.Errorf("push out %s: %v", m.name, errno)
			}
		}
	})
	var all, named int64
	kept := false
	for _, m := range privateMappings(t) {
		all += m.swap
		if strings.Contains(m.name, imageName) {
			kept = true
			named += m.swap
		}
	}
	if within && (all == 0 || kept && named == 0) {
		t.Errorf("%d bytes were swapped, %d of them of kept instances", all, named)
	}
	p.times, p.all, p.named = p.times+1, p.all+all, p.named+named
}

// onEachProcessor does something on one processor after the other.
func onEachProcessor(t testing.TB, do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	must(t, unix.SchedGetaffinity(0, &all))
	for cpu, left := 0, all.Count(); left > 0; cpu++ {
		if all.IsSet(cpu) {
			var one unix.CPUSet
			one.Set(cpu)
			must(t, unix.SchedSetaffinity(0, &one))
			do()
			left--
		}
	}
	must(t, unix.SchedSetaffinity(0, &all))
}

// mapping is a part of the process's address space that can be written.
type mapping struct {
	from, to uintptr
	name     string
	swap     int64 // bytes
}

// privateMappings lists those whose pages are the process's own.
func privateMappings(t testing.TB) (list []mapping) {
	b, err := os.ReadFile("/proc/self/smaps")
	must(t, err)
	keep := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if from, to, ok := strings.Cut(f[0], "-"); ok && len(f) >= 5 {
			m := mapping{name: strings.Join(f[5:], " ")}
			_, err := fmt.Sscanf(from+" "+to, "%x %x", &m.from, &m.to)
			must(t, err)
			if keep = strings.HasPrefix(f[1], "rw-p"); keep {
				list = append(list, m)
			}
		} else if keep && f[0] == "Swap:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			must(t, err)
			list[len(list)-1].swap = n << 10
		}
	}
	return list
}
