//go:build !linux && !darwin && !windows

package sandbox

// machineMemory returns 0: how much memory there is is not known.
func machineMemory() uint64 { return 0 }
