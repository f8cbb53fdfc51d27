package sandbox

import "golang.org/x/sys/unix"

// machineMemory returns how much memory there is for the process, in bytes, 0 when that is not known.
func machineMemory() uint64 {
	limit := containerMemory(containerFiles)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return limit
	}
	all := uint64(info.Totalram) * uint64(info.Unit)
	if limit != 0 {
		all = min(all, limit)
	}
	return all
}
