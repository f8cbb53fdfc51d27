package main

import (
	"bufio"
	crand "crypto/rand"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// place is one where something can be left for the next call. What look returns is the same in every clean instance.
type place struct {
	name  string
	leave func()
	look  func() string
}

// places are in the order in which they are looked at: what comes first is still as the call found it.
var places = []place{
	{"pages", func() {}, pages},
	{"clock", func() { time.Sleep(time.Hour) }, func() string { return fmt.Sprint(time.Now().UnixNano(), time.Since(began)) }},
	{"variable", func() { variable += 41 }, func() string { return fmt.Sprint(variable) }},
	{"map", leaveMap, func() string { return fmt.Sprint(slices.Sorted(maps.Keys(table))) }},
	{"kept", func() { kept = append(kept, []byte("left")) }, func() string { return fmt.Sprint(len(kept)) }},
	{"pool", func() { pool.Put(new(int)) }, func() string { return fmt.Sprint(pool.Get() != nil) }},
	{"once", func() { once.Do(func() {}) }, func() string { first := false; once.Do(func() { first = true }); return fmt.Sprint(first) }},
	{"lock", func() { lock.Lock() }, func() string { return fmt.Sprint(lock.TryLock()) }},
	{"arguments", func() { os.Args = append(os.Args, "left") }, func() string { return fmt.Sprintf("%q", os.Args) }},
	{"env", leaveEnv, func() string { return fmt.Sprintf("%q", os.Environ()) }},
	{"folder", func() { _ = os.Chdir("/") }, func() string { dir, err := os.Getwd(); return fmt.Sprint(dir, err) }},
	{"zone", func() { time.Local = time.FixedZone("left", 60) }, func() string { return time.Now().Location().String() + time.Now().Format(" MST") }},
	{"log", func() { log.SetPrefix("left: "); log.SetFlags(0) }, func() string { log.Print("looked"); return log.Prefix() }},
	{"random", func() { crand.Read(make([]byte, 99)) }, func() string { b := make([]byte, 8); crand.Read(b); return fmt.Sprintf("%x", b) }},
	{"math/rand", func() { rand.Uint64() }, func() string { return fmt.Sprint(rand.Uint64()) }},
	{"order", func() { order() }, order},
	{"goroutine", leaveGoroutine, lookGoroutine},
	{"timer", func() { time.AfterFunc(3*time.Hour, func() { timed++ }) }, func() string { time.Sleep(4 * time.Hour); return fmt.Sprint(timed) }},
	{"finalizer", leaveFinalizer, lookFinalizer},
	{"heap", func() { kept = append(kept, make([]byte, 1<<20)) }, lookHeap},
	{"settings", leaveSettings, lookSettings},
	{"buffer", func() { fmt.Fprint(buffer, "left in a buffer;") }, func() string { fmt.Fprint(buffer, "looked;"); return fmt.Sprint(buffer.Flush()) }},
	{"stdout", leaveStdout, func() string { n, err := fmt.Fprint(os.Stdout, "looked;"); return fmt.Sprint(n, err) }},
}

var (
	began     = time.Now()
	variable  = 1
	table     = map[string]int{}
	kept      [][]byte
	pool      sync.Pool
	once      sync.Once
	lock      sync.Mutex
	turns     int // of a goroutine that was left
	timed     int // timers that went off
	finalized int // objects that were left and collected
	buffer    = bufio.NewWriter(os.Stderr)
)

func leaveMap() {
	for n := range 100 {
		table[fmt.Sprint("left", n)] = n
	}
}

func leaveEnv() { _ = os.Setenv("LEFT", "behind") }

func order() string {
	m := map[int]bool{}
	for n := range 20 {
		m[n] = true
	}
	return fmt.Sprint(slices.Collect(maps.Keys(m)))
}

func leaveGoroutine() {
	go func() {
		for {
			turns++
			time.Sleep(time.Minute)
		}
	}()
}

// lookGoroutine gives others a turn, and says what they did, how many there are and the number of a new one.
func lookGoroutine() string {
	time.Sleep(10 * time.Minute)
	number := make(chan string)
	go func() {
		b := make([]byte, 20)
		number <- string(b[:runtime.Stack(b, false)])
	}()
	return fmt.Sprint(turns, " ", runtime.NumGoroutine(), " ", <-number)
}

func leaveFinalizer() {
	left := new([64]byte)
	runtime.AddCleanup(left, func(int) { finalized++; fmt.Fprint(os.Stderr, "left to the collector;") }, 0)
	runtime.SetFinalizer(new([128]byte), func(*[128]byte) { finalized++ })
}

func lookFinalizer() string {
	for range 3 {
		runtime.GC()
		time.Sleep(time.Nanosecond)
	}
	return fmt.Sprint(finalized)
}

// lookHeap says where new objects are and what the collector has done.
func lookHeap() string {
	small, large := new([48]byte), make([]byte, 100_000)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%p %p %d objects, %d of %d bytes, %d collections, %d allocations", small, large, m.HeapObjects, m.HeapAlloc, m.Sys, m.NumGC, m.Mallocs)
}

func leaveSettings() {
	debug.SetGCPercent(41)
	debug.SetMemoryLimit(1 << 30)
	debug.SetMaxStack(1 << 28)
	debug.SetTraceback("system")
}

func lookSettings() string {
	return fmt.Sprint(debug.SetGCPercent(100), debug.SetMemoryLimit(-1), debug.SetMaxStack(1<<29))
}

func leaveStdout() {
	_ = os.Stdout.Close()
	_ = os.Stdin.Close()
}
