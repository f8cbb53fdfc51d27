package sandbox

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// machineMemory returns how much memory there is, in bytes, 0 when that is not known.
func machineMemory() uint64 {
	// MEMORYSTATUSEX
	status := struct {
		length, load                                                   uint32
		total, avail, totalPage, availPage, totalVM, availVM, extended uint64
	}{}
	status.length = uint32(unsafe.Sizeof(status))
	ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx").Call(uintptr(unsafe.Pointer(&status)))
	if ok == 0 {
		return 0
	}
	return status.total
}
