package sandbox

import "golang.org/x/sys/unix"

// machineMemory returns how much memory there is, in bytes, 0 when that is not known.
func machineMemory() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return n
}
