package sandbox

import "github.com/wrun-dev/wrun/runtime/sandbox/wasm"

// wasiFunc is one function of WASI preview 1.
type wasiFunc struct {
	name   string
	params string // one letter each: i is i32, I is i64
	listed bool   // it does something; the others answer ENOSYS
}

// wasiFuncs is all of WASI preview 1 in the order of its specification. What is not listed is linked, because compilers
// link it into programs that never use it, and answers ENOSYS without touching anything.
var wasiFuncs = []wasiFunc{
	{"args_get", "ii", true},
	{"args_sizes_get", "ii", true},
	{"environ_get", "ii", true},
	{"environ_sizes_get", "ii", true},
	{"clock_res_get", "ii", true},
	{"clock_time_get", "iIi", true},
	{"fd_advise", "iIIi", false},
	{"fd_allocate", "iII", false},
	{"fd_close", "i", true},
	{"fd_datasync", "i", false},
	{"fd_fdstat_get", "ii", true},
	{"fd_fdstat_set_flags", "ii", true},
	{"fd_fdstat_set_rights", "iII", false},
	{"fd_filestat_get", "ii", false},
	{"fd_filestat_set_size", "iI", false},
	{"fd_filestat_set_times", "iIIi", false},
	{"fd_pread", "iiiIi", false},
	{"fd_prestat_get", "ii", true},
	{"fd_prestat_dir_name", "iii", true},
	{"fd_pwrite", "iiiIi", false},
	{"fd_read", "iiii", true},
	{"fd_readdir", "iiiIi", false},
	{"fd_renumber", "ii", false},
	{"fd_seek", "iIii", true},
	{"fd_sync", "i", false},
	{"fd_tell", "ii", false},
	{"fd_write", "iiii", true},
	{"path_create_directory", "iii", false},
	{"path_filestat_get", "iiiii", false},
	{"path_filestat_set_times", "iiiiIIi", false},
	{"path_link", "iiiiiii", false},
	{"path_open", "iiiiiIIii", false},
	{"path_readlink", "iiiiii", false},
	{"path_remove_directory", "iii", false},
	{"path_rename", "iiiiii", false},
	{"path_symlink", "iiiii", false},
	{"path_unlink_file", "iii", false},
	{"poll_oneoff", "iiii", true},
	{"proc_exit", "i", true},
	{"proc_raise", "i", false},
	{"sched_yield", "", true},
	{"random_get", "ii", true},
	{"sock_accept", "iii", false},
	{"sock_recv", "iiiiii", false},
	{"sock_send", "iiiii", false},
	{"sock_shutdown", "ii", false},
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
