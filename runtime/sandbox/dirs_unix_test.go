//go:build unix

package sandbox_test

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// TestOnlyFilesAndDirectoriesAreOpened has a pipe without a writer, a socket and a device in the directory: opening one must
// neither wait nor succeed.
func TestOnlyFilesAndDirectoriesAreOpened(t *testing.T) {
	w := newWorld(t)
	must(t, syscall.Mkfifo(filepath.Join(w.work, "pipe"), 0o600))
	listener, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	defer syscall.Close(listener)
	names := []string{"pipe"}
	if syscall.Bind(listener, &syscall.SockaddrUnix{Name: filepath.Join(w.work, "socket")}) == nil { // the path may be too long
		names = append(names, "socket")
	}
	if mknod(filepath.Join(w.work, "zero")) == nil { // which takes privileges
		names = append(names, "zero")
	}
	must(t, os.Symlink("pipe", filepath.Join(w.work, "link")))
	for _, name := range append(names, "link") {
		for _, oflags := range []uint32{0, creat, trunc, directory, creat | trunc} {
			for _, rights := range []uint64{canRead, canWrite, canRead | canWrite} {
				w.want(t, op{Call: "path_open", FD: 3, Path: name, Follow: 1, Oflags: oflags, Rights: rights}, perm, notdir)
			}
		}
		w.want(t, op{Call: "path_filestat_get", FD: 3, Path: name, Follow: 1}, success)
	}
	w.want(t, op{Call: "list", FD: 3, Len: 4096}, success)
	w.want(t, op{Call: "path_unlink_file", FD: 3, Path: "pipe"}, success)
}

// swap changes what a name stands for, as often as it can, until it is told to stop.
func swap(t testing.TB, change func()) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				change()
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
	}
}

// exchange puts two names in each other's place, through a third.
func exchange(a, b string) {
	_ = os.Rename(a, a+".third")
	_ = os.Rename(b, a)
	_ = os.Rename(a+".third", b)
}

// TestARaceLeadsNowhere lets the host put a link out in the place of a directory and of a file, again and again, while a
// program walks through them. Whatever it reads that is not the file that belongs there ends the program with 66.
func TestARaceLeadsNowhere(t *testing.T) {
	w := newWorld(t)
	at := func(name string) string { return filepath.Join(w.work, name) }
	must(t, os.Mkdir(at("dir"), 0o700))
	must(t, os.WriteFile(at("dir/canary"), []byte("mine"), 0o600))
	must(t, os.WriteFile(at("file"), []byte("mine"), 0o600))
	must(t, os.Symlink("../secret", at("dirlink")))
	must(t, os.Symlink("../canary", at("filelink")))
	defer swap(t, func() { exchange(at("dir"), at("dirlink")); exchange(at("file"), at("filelink")) })()
	const times = 3000
	r := w.do(t,
		op{Call: "read", FD: 3, Path: "dir/canary", Data: "mine", Times: times, Follow: 1},
		op{Call: "read", FD: 3, Path: "dir/../dir/canary", Data: "mine", Times: times},
		op{Call: "read", FD: 3, Path: "file", Data: "mine", Times: times, Follow: 1},
		op{Call: "read", FD: 3, Path: "file", Data: "mine", Times: times},
		op{Call: "path_open", FD: 3, Path: "dir/new", Oflags: creat, Times: times / 10},
		op{Call: "path_filestat_set_times", FD: 3, Path: "dir/canary", Flags: 5, N: 7, Times: times},
		op{Call: "path_unlink_file", FD: 3, Path: "dir/canary", Times: times},
		op{Call: "path_rename", FD: 3, Path: "dir/canary", To: 3, New: "caught", Times: times},
		op{Call: "path_create_directory", FD: 3, Path: "dir/sub", Times: times},
		op{Call: "path_remove_directory", FD: 3, Path: "dir/sub", Times: times},
	)
	if r[0].Others == 0 {
		t.Log("nothing was swapped while the program looked")
	}
	info, err := os.Stat(filepath.Join(w.outside, "secret/canary"))
	must(t, err)
	if info.ModTime().UnixNano() == 7 {
		t.Error("the time of a file outside was set")
	}
}

// TestARaceWithAPipeDoesNotWait lets the host put a pipe in the place of a file and of a directory.
func TestARaceWithAPipeDoesNotWait(t *testing.T) {
	w := newWorld(t)
	at := func(name string) string { return filepath.Join(w.work, name) }
	must(t, os.Mkdir(at("dir"), 0o700))
	must(t, os.WriteFile(at("file"), []byte("mine"), 0o600))
	for _, pipe := range []string{"p1", "p2"} {
		must(t, syscall.Mkfifo(at(pipe), 0o600))
	}
	defer swap(t, func() { exchange(at("dir"), at("p1")); exchange(at("file"), at("p2")) })()
	w.do(t,
		op{Call: "read", FD: 3, Path: "file", Data: "mine", Times: 3000},
		op{Call: "path_open", FD: 3, Path: "file", Rights: canWrite, Oflags: creat | trunc, Times: 100},
		op{Call: "read", FD: 3, Path: "dir", Data: "mine", Times: 3000},
		op{Call: "path_open", FD: 3, Path: "dir", Oflags: directory, Times: 100},
	)
}

// TestNothingStaysOpen counts the descriptors of this process around calls that leave some open, however they end.
func TestNothingStaysOpen(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not show what is open")
	}
	w := newWorld(t)
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(entries)
	}
	leave := []op{{Call: "path_open", FD: 4, Path: "book", Times: 50}, {Call: "path_open", FD: 3, Path: ".", Times: 20}, {Call: "list", FD: 3, Len: 4096}}
	for _, end := range [][]op{nil, {{Call: "exit", N: 1}}, {{Call: "trap"}}, {{Call: "fd_renumber", FD: 10, To: 11}, {Call: "exit"}}} {
		_, err := w.invoke(t.Context())
		must(t, err)
		before := count()
		_, err = w.invoke(t.Context(), append(leave[:len(leave):len(leave)], end...)...)
		must(t, err)
		if after := count(); after > before {
			t.Errorf("%v: %d descriptors more are open", end, after-before)
		}
	}
}
