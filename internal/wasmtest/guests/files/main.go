//go:build wasip1

// Command files is a program for tests: it reads a list of calls of WASI functions from its standard input, makes them one
// by one, and writes what came of each. So a test can ask for whatever a hostile program could, without a library in between.
package main

import (
	"encoding/json"
	"os"
	"unsafe"
)

// Op is one call. Which fields matter depends on Call; numbers that WASI returns and that a later call needs are named
// by the test, which knows them: descriptors begin at 3.
type Op struct {
	Call   string `json:"call"`
	FD     uint32 `json:"fd"`
	To     uint32 `json:"to"` // a second descriptor, or what else is numbered
	Path   string `json:"path"`
	New    string `json:"new"` // a second path
	Follow uint32 `json:"follow"`
	Oflags uint32 `json:"oflags"`
	Rights uint64 `json:"rights"`
	Flags  uint32 `json:"flags"`
	N      uint64 `json:"n"` // a size, an offset or a cookie
	Len    uint32 `json:"len"`
	Data   string `json:"data"`
	Times  int    `json:"times"` // how often; the last result is written, with how many had another errno
}

// Result is what came of a call.
type Result struct {
	Errno  uint32   `json:"errno"`
	Value  uint64   `json:"value,omitempty"`
	Data   string   `json:"data,omitempty"`
	Names  []string `json:"names,omitempty"`
	Others int      `json:"others,omitempty"`
}

//go:wasmimport wasi_snapshot_preview1 path_open
func pathOpen(fd, dirflags uint32, path unsafe.Pointer, n, oflags uint32, base, inheriting uint64, flags uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_close
func fdClose(fd uint32) uint32

//go:wasmimport wasi_snapshot_preview1 fd_renumber
func fdRenumber(fd, to uint32) uint32

//go:wasmimport wasi_snapshot_preview1 fd_read
func fdRead(fd uint32, iovs unsafe.Pointer, n uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_write
func fdWrite(fd uint32, iovs unsafe.Pointer, n uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_seek
func fdSeek(fd uint32, offset int64, whence uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_readdir
func fdReaddir(fd uint32, buf unsafe.Pointer, n uint32, cookie uint64, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_prestat_get
func fdPrestatGet(fd uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 fd_filestat_set_size
func fdFilestatSetSize(fd uint32, size uint64) uint32

//go:wasmimport wasi_snapshot_preview1 fd_allocate
func fdAllocate(fd uint32, offset, size uint64) uint32

//go:wasmimport wasi_snapshot_preview1 fd_filestat_set_times
func fdFilestatSetTimes(fd uint32, at, mt uint64, flags uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_filestat_get
func pathFilestatGet(fd, flags uint32, path unsafe.Pointer, n uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 path_filestat_set_times
func pathFilestatSetTimes(fd, flags uint32, path unsafe.Pointer, n uint32, at, mt uint64, which uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_create_directory
func pathCreateDirectory(fd uint32, path unsafe.Pointer, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_remove_directory
func pathRemoveDirectory(fd uint32, path unsafe.Pointer, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_unlink_file
func pathUnlinkFile(fd uint32, path unsafe.Pointer, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_rename
func pathRename(fd uint32, path unsafe.Pointer, n, to uint32, newPath unsafe.Pointer, newN uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_symlink
func pathSymlink(path unsafe.Pointer, n, fd uint32, newPath unsafe.Pointer, newN uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_link
func pathLink(fd, flags uint32, path unsafe.Pointer, n, to uint32, newPath unsafe.Pointer, newN uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_readlink
func pathReadlink(fd uint32, path unsafe.Pointer, n uint32, buf unsafe.Pointer, bufN uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 sock_accept
func sockAccept(fd, flags uint32, out unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 proc_raise
func procRaise(signal uint32) uint32

type iovec struct{ ptr, n uint32 }

// keep holds the buffer whose address an iovec has as a number.
var keep []byte

func buffer(n uint32) []byte {
	keep = make([]byte, n)
	return keep
}

func main() {
	var ops []Op
	if err := json.NewDecoder(os.Stdin).Decode(&ops); err != nil {
		println(err.Error())
		os.Exit(2)
	}
	results := make([]Result, 0, len(ops))
	for _, op := range ops {
		r := do(op)
		for i := 1; i < op.Times; i++ {
			next := do(op)
			if next.Errno != r.Errno {
				next.Others++
			}
			next.Others += r.Others
			r = next
		}
		results = append(results, r)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

func text(s string) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.StringData(s + "\x00")), uint32(len(s))
}

func do(op Op) (r Result) {
	path, n := text(op.Path)
	other, m := text(op.New)
	out := unsafe.Pointer(&r.Value)
	var small uint32
	switch op.Call {
	case "path_open":
		r.Errno = pathOpen(op.FD, op.Follow, path, n, op.Oflags, op.Rights, op.Rights, op.Flags, unsafe.Pointer(&small))
		r.Value = uint64(small)
	case "fd_close":
		r.Errno = fdClose(op.FD)
	case "fd_renumber":
		r.Errno = fdRenumber(op.FD, op.To)
	case "fd_read":
		buf := buffer(max(op.Len, 1))
		v := iovec{uint32(uintptr(unsafe.Pointer(&buf[0]))), op.Len}
		r.Errno = fdRead(op.FD, unsafe.Pointer(&v), 1, unsafe.Pointer(&small))
		r.Value, r.Data = uint64(small), string(buf[:small])
	case "fd_write":
		buf := append(buffer(0), op.Data+"\x00"...)
		keep = buf
		v := iovec{uint32(uintptr(unsafe.Pointer(&buf[0]))), uint32(len(op.Data))}
		r.Errno = fdWrite(op.FD, unsafe.Pointer(&v), 1, unsafe.Pointer(&small))
		r.Value = uint64(small)
	case "fd_write_vector": // so many times all of a buffer, whose descriptions fill memory
		buf := buffer(op.Len)
		v := make([]iovec, op.N)
		for i := range v {
			v[i] = iovec{uint32(uintptr(unsafe.Pointer(&buf[0]))), op.Len}
		}
		r.Errno = fdWrite(op.FD, unsafe.Pointer(&v[0]), uint32(op.N), unsafe.Pointer(&small))
		r.Value = uint64(small)
	case "fd_seek":
		r.Errno = fdSeek(op.FD, int64(op.N), op.To, out)
	case "fd_readdir":
		buf := buffer(op.Len)
		r.Errno = fdReaddir(op.FD, unsafe.Pointer(&buf[0]), op.Len, op.N, unsafe.Pointer(&small))
		r.Value = uint64(small)
		r.Names = names(buf[:small])
	case "list": // the whole of a directory, as a library does it
		buf := buffer(op.Len)
		for cookie, more := uint64(0), true; more && r.Errno == 0; {
			r.Errno = fdReaddir(op.FD, unsafe.Pointer(&buf[0]), op.Len, cookie, unsafe.Pointer(&small))
			found := names(buf[:small])
			r.Value += uint64(len(found))
			cookie += uint64(len(found))
			more = small == op.Len && len(found) > 0
			if len(r.Names) < 8 {
				r.Names = append(r.Names, found[:min(len(found), 8)]...)
			}
		}
	case "fd_prestat_get":
		r.Errno = fdPrestatGet(op.FD, out)
	case "fd_filestat_set_size":
		r.Errno = fdFilestatSetSize(op.FD, op.N)
	case "fd_allocate":
		r.Errno = fdAllocate(op.FD, op.N, uint64(op.Len))
	case "fd_filestat_set_times":
		r.Errno = fdFilestatSetTimes(op.FD, op.N, op.N, op.Flags)
	case "path_filestat_get":
		var st [8]uint64
		r.Errno = pathFilestatGet(op.FD, op.Follow, path, n, unsafe.Pointer(&st))
		r.Value = st[4]
	case "path_filestat_set_times":
		r.Errno = pathFilestatSetTimes(op.FD, op.Follow, path, n, op.N, op.N, op.Flags)
	case "path_create_directory":
		r.Errno = pathCreateDirectory(op.FD, path, n)
	case "path_remove_directory":
		r.Errno = pathRemoveDirectory(op.FD, path, n)
	case "path_unlink_file":
		r.Errno = pathUnlinkFile(op.FD, path, n)
	case "path_rename":
		r.Errno = pathRename(op.FD, path, n, op.To, other, m)
	case "path_symlink":
		r.Errno = pathSymlink(path, n, op.FD, other, m)
	case "path_link":
		r.Errno = pathLink(op.FD, op.Follow, path, n, op.To, other, m)
	case "path_readlink":
		buf := buffer(4096)
		r.Errno = pathReadlink(op.FD, path, n, unsafe.Pointer(&buf[0]), 4096, unsafe.Pointer(&small))
		r.Data = string(buf[:small])
	case "sock_accept":
		r.Errno = sockAccept(op.FD, 0, unsafe.Pointer(&small))
	case "proc_raise":
		r.Errno = procRaise(15)
	case "read": // opens, reads and closes, as often as it is told: what a race needs
		if r.Errno = pathOpen(op.FD, op.Follow, path, n, 0, 2, 2, 0, unsafe.Pointer(&small)); r.Errno != 0 {
			return r
		}
		fd := small
		small = 0
		buf := buffer(64)
		v := iovec{uint32(uintptr(unsafe.Pointer(&buf[0]))), 64}
		r.Errno = fdRead(fd, unsafe.Pointer(&v), 1, unsafe.Pointer(&small))
		r.Data = string(buf[:small])
		fdClose(fd)
		if r.Data != op.Data && r.Data != "" {
			println("read " + r.Data)
			os.Exit(66)
		}
	case "exit":
		os.Exit(int(op.N))
	case "trap":
		panic(op.Data)
	case "spin":
		for {
			procRaise(0)
		}
	default:
		println("no call " + op.Call)
		os.Exit(2)
	}
	return r
}

func names(buf []byte) (names []string) {
	for len(buf) >= 24 {
		n := int(*(*uint32)(unsafe.Pointer(&buf[16])))
		if len(buf) < 24+n {
			break
		}
		names = append(names, string(buf[24:24+n]))
		buf = buf[24+n:]
	}
	return names
}
