package mixed

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// sample is what this process has at one moment. What a system does not say is 0.
type sample struct {
	rss, anon, shmem, heap            int64 // bytes
	mappings, descriptors, goroutines int64
}

const liveHeap = "/gc/heap/live:bytes"

// measure looks without changing anything. The heap is what lived at the last collection.
func measure() sample {
	var m sample
	m.system()
	live := []metrics.Sample{{Name: liveHeap}}
	metrics.Read(live)
	if live[0].Value.Kind() == metrics.KindUint64 {
		m.heap = int64(live[0].Value.Uint64())
	}
	m.goroutines = int64(runtime.NumGoroutine())
	return m
}

// rest measures after all garbage was collected and given back. A goroutine that is about to end is given time for it.
func rest() sample {
	for range 3 {
		runtime.GC() // what has a cleanup or is in a pool goes in the next ones
	}
	debug.FreeOSMemory()
	m := measure()
	for range 10 {
		time.Sleep(time.Millisecond)
		m.goroutines = min(m.goroutines, int64(runtime.NumGoroutine()))
	}
	return m
}
