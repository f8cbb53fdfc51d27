package sandbox

import "github.com/wrun-dev/wrun/runtime/sandbox/wasm"

// wasiFunc is one function of WASI preview 1.
type wasiFunc struct {
	name   string
	params string // one letter each: i is i32, I is i64
	listed bool   // it does something for a module of ABI 1; the others answer ENOSYS
	never  bool   // it does nothing for a program either
}

// wasiFuncs is all of WASI preview 1 in the order of its specification. What is not listed is linked, because compilers
// link it into modules that never use it, and answers ENOSYS without touching anything.
var wasiFuncs = []wasiFunc{
	{"args_get", "ii", true, false},
	{"args_sizes_get", "ii", true, false},
	{"environ_get", "ii", true, false},
	{"environ_sizes_get", "ii", true, false},
	{"clock_res_get", "ii", true, false},
	{"clock_time_get", "iIi", true, false},
	{"fd_advise", "iIIi", false, false},
	{"fd_allocate", "iII", false, false},
	{"fd_close", "i", true, false},
	{"fd_datasync", "i", false, false},
	{"fd_fdstat_get", "ii", true, false},
	{"fd_fdstat_set_flags", "ii", true, false},
	{"fd_fdstat_set_rights", "iII", false, true},
	{"fd_filestat_get", "ii", false, false},
	{"fd_filestat_set_size", "iI", false, false},
	{"fd_filestat_set_times", "iIIi", false, false},
	{"fd_pread", "iiiIi", false, false},
	{"fd_prestat_get", "ii", true, false},
	{"fd_prestat_dir_name", "iii", true, false},
	{"fd_pwrite", "iiiIi", false, false},
	{"fd_read", "iiii", true, false},
	{"fd_readdir", "iiiIi", false, false},
	{"fd_renumber", "ii", false, false},
	{"fd_seek", "iIii", true, false},
	{"fd_sync", "i", false, false},
	{"fd_tell", "ii", false, false},
	{"fd_write", "iiii", true, false},
	{"path_create_directory", "iii", false, false},
	{"path_filestat_get", "iiiii", false, false},
	{"path_filestat_set_times", "iiiiIIi", false, false},
	{"path_link", "iiiiiii", false, true},
	{"path_open", "iiiiiIIii", false, false},
	{"path_readlink", "iiiiii", false, false},
	{"path_remove_directory", "iii", false, false},
	{"path_rename", "iiiiii", false, false},
	{"path_symlink", "iiiii", false, true},
	{"path_unlink_file", "iii", false, false},
	{"poll_oneoff", "iiii", true, false},
	{"proc_exit", "i", true, false},
	{"proc_raise", "i", false, true},
	{"sched_yield", "", true, false},
	{"random_get", "ii", true, false},
	{"sock_accept", "iii", false, true},
	{"sock_recv", "iiiiii", false, true},
	{"sock_send", "iiiii", false, true},
	{"sock_shutdown", "ii", false, true},
}

func wasiByName(name string) (wasiFunc, bool) {
	for _, f := range wasiFuncs {
		if f.name == name {
			return f, true
		}
	}
	return wasiFunc{}, false
}

// results returns the results as letters: an errno, but proc_exit does not return.
func (f wasiFunc) results() string {
	if f.name == "proc_exit" {
		return ""
	}
	return "i"
}

// signature writes parameters and results given as letters.
func signature(params, results string) string {
	return wasm.FuncType{Params: letters(params), Results: letters(results)}.String()
}

func letters(s string) []byte {
	types := make([]byte, len(s))
	for i := range s {
		if types[i] = 0x7f; s[i] == 'I' {
			types[i] = 0x7e
		}
	}
	return types
}
