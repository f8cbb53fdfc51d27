//go:build !linux

package sandbox_test

import (
	"runtime"
	"testing"
)

func resetPeak(testing.TB) {}

// peak is what Go has taken from the system, of which it gives back nothing that counts here.
func peak() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

func resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// What only Linux tells.
func mappings() int  { return 0 }
func processes() int { return 0 }
