package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestIdleInstancesGiveWayToTheSystemsLimit: under a limit of addresses that holds two memories of 256 MiB, ten modules are called
// one after the other, and the instances that are kept have their addresses taken again.
func TestIdleInstancesGiveWayToTheSystemsLimit(t *testing.T) {
	if raced || sandbox.InHeapByDefault {
		t.Skip("the race detector, and Go's heap, want more addresses than any limit here")
	}
	if !isolated(t) {
		return
	}
	box, s := open(t, sandbox.Config{})
	limit := uint64(status("VmSize:")) + 700<<20
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		g := newGuest()
		g.manifest.Version = fmt.Sprintf("%d.0.0", n)
		inv := toolabi.Invocation{Module: s.add(g.invoke(0, g.ok(t)).build(t)), Tool: "echo"}
		if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
			t.Fatalf("module %d: %v, %v", n, out.Err, err)
		}
	}
	if i, _, _ := box.InPool(); i > 2 {
		t.Errorf("%d instances are kept", i)
	}
}

// TestIdleInstancesGiveWayToAnInstanceMadeOfAnImage: under a limit of memory that holds three instances of 60 MiB, a fourth is made
// while one is in use and two are idle.
func TestIdleInstancesGiveWayToAnInstanceMadeOfAnImage(t *testing.T) {
	if raced || sandbox.InHeapByDefault {
		t.Skip("the race detector, and Go's heap, want more memory than any limit here")
	}
	if !isolated(t) {
		return
	}
	box, s := open(t, sandbox.Config{MemoryBudget: 1 << 30})
	module := func(n int) toolabi.Invocation {
		g := newGuest(toolabi.FuncLog)
		g.manifest.Version = fmt.Sprintf("%d.0.0", n)
		g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, grow(958), Drop))
		return toolabi.Invocation{Module: s.add(g.invoke(0, g.tell(I32Const(1)), g.ok(t)).build(t)), Tool: "echo"}
	}
	answer := func(context.Context, string, []byte) (toolabi.Answer, error) { return toolabi.Answer{}, nil }
	call := func(n int, host toolabi.HostFunc) {
		t.Helper()
		if out, err := box.Invoke(t.Context(), module(n), host); err != nil || out.Err != nil {
			t.Fatal(out.Err, err)
		}
	}
	limit := uint64(status("VmData:")) + 210<<20
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	call(0, func(context.Context, string, []byte) (toolabi.Answer, error) {
		call(1, answer)
		call(2, answer)
		wantPool(t, box, 2, 3)
		call(0, answer)
		return toolabi.Answer{}, nil
	})
}

// refusal is a system call that the kernel answers with an error when one of its arguments has a value.
type refusal struct {
	name             string
	call, arg, value uint32
	errno            unix.Errno
	outOfMemory      bool // what a call comes to that cannot do without; else it can
}

var refusals = []refusal{
	{"memfd_create", unix.SYS_MEMFD_CREATE, 1, unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING, unix.ENOSYS, false},
	{"mapping an image", unix.SYS_MMAP, 3, unix.MAP_PRIVATE | unix.MAP_FIXED, unix.ENOMEM, true},
	{"giving pages back", unix.SYS_MADVISE, 2, unix.MADV_DONTNEED, unix.EINVAL, false}, // as of memory that is locked
	{"PAGEMAP_SCAN", unix.SYS_IOCTL, 1, 0xc0606610, unix.EPERM, false},
	{"userfaultfd", unix.SYS_USERFAULTFD, 1, 0, unix.ENOSYS, false},
	{"UFFDIO_REGISTER", unix.SYS_IOCTL, 1, 0xc020aa00, unix.EPERM, false},
	{"UFFDIO_WRITEPROTECT", unix.SYS_IOCTL, 1, 0xc018aa06, unix.EPERM, false},
}

// begin makes the kernel refuse from now on, whatever it did before.
func (r refusal) begin(t *testing.T) {
	t.Helper()
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: r.call, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16 + 8*r.arg},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: r.value, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(r.errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		t.Skip(errno)
	}
}

// TestWhatTheSystemRefusesIsDoneWithout: from the start, or from some moment on.
func TestWhatTheSystemRefusesIsDoneWithout(t *testing.T) {
	for _, r := range refusals {
		for after := range 3 {
			t.Run(fmt.Sprint(r.name, " after ", after), func(t *testing.T) {
				if isolated(t) {
					r.run(t, after)
				}
			})
		}
	}
}

// run calls modules whose memory stays as it is and grows, after so many calls of them in a system that refuses.
func (r refusal) run(t *testing.T, after int) {
	box, s := open(t, sandbox.Config{})
	constant := func(version int, code []byte) toolabi.Digest {
		g := newGuest()
		g.manifest.Version = fmt.Sprintf("%d.0.0", version)
		return s.add(g.invoke(0, code, g.static(t, toolabi.Reply{Output: []byte("222")})).build(t))
	}
	modules := []toolabi.Digest{s.add(steps(t)), constant(1, slices.Concat(grow(100), Drop, I32Const(80<<16), I32Const(1), I32Store))}
	calls := func() {
		for n, m := range modules {
			out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: m, Tool: "echo", Input: []byte("{}")}, nil)
			var none *sandbox.MemoryError
			switch {
			case r.outOfMemory && errors.As(err, &none):
			case err != nil || string(out.Output) != "222":
				t.Errorf("module %d came to %s, %v, %v", n, out.Output, out.Err, err)
			}
		}
	}
	for range after {
		calls()
	}
	r.begin(t)
	modules = append(modules, constant(2, nil))
	for range 20 {
		calls()
	}
}
