package sandbox

import "github.com/wrun-dev/wrun/runtime/sandbox/wasm"

// wasiFunc is one function of WASI preview 1.
type wasiFunc struct {
	name          string
	params        string    // one letter each: i is i32, I is i64
	tool, program guestFunc // what it does for a module of ABI 1, nil for nothing, and for a program
	never         bool      // it does nothing for a program but to answer an errno
}

// wasiFuncs is all of WASI preview 1 in the order of its specification. What does nothing for a module of ABI 1 is linked, because
// compilers link it into modules that never use it, and answers ENOSYS without touching anything.
var wasiFuncs = []wasiFunc{
	{"args_get", "ii", (*call).argsGet, (*call).argsGet, false},
	{"args_sizes_get", "ii", (*call).argsSizesGet, (*call).argsSizesGet, false},
	{"environ_get", "ii", (*call).environGet, (*call).environGet, false},
	{"environ_sizes_get", "ii", (*call).environSizesGet, (*call).environSizesGet, false},
	{"clock_res_get", "ii", (*call).clockResGet, (*call).clockResGet, false},
	{"clock_time_get", "iIi", (*call).clockTimeGet, (*call).clockTimeGet, false},
	{"fd_advise", "iIIi", nil, ofProgram((*program).fdAdvise), false},
	{"fd_allocate", "iII", nil, ofProgram((*program).fdAllocate), false},
	{"fd_close", "i", ofStreams((*streams).fdClose), ofProgram((*program).fdClose), false},
	{"fd_datasync", "i", nil, ofProgram((*program).fdSync), false},
	{"fd_fdstat_get", "ii", ofStreams((*streams).fdFdstatGet), ofProgram((*program).fdFdstatGet), false},
	{"fd_fdstat_set_flags", "ii", ofStreams((*streams).fdFdstatSetFlags), ofProgram((*program).fdFdstatSetFlags), false},
	{"fd_fdstat_set_rights", "iII", nil, timed(answering(errnoNotsup)), true},
	{"fd_filestat_get", "ii", nil, ofProgram((*program).fdFilestatGet), false},
	{"fd_filestat_set_size", "iI", nil, ofProgram((*program).fdFilestatSetSize), false},
	{"fd_filestat_set_times", "iIIi", nil, timed((*call).fdFilestatSetTimes), false},
	{"fd_pread", "iiiIi", nil, ofProgram((*program).fdPread), false},
	{"fd_prestat_get", "ii", ofStreams((*streams).fdPrestatGet), ofProgram((*program).fdPrestatGet), false},
	{"fd_prestat_dir_name", "iii", ofStreams((*streams).fdPrestatDirName), ofProgram((*program).fdPrestatDirName), false},
	{"fd_pwrite", "iiiIi", nil, ofProgram((*program).fdPwrite), false},
	{"fd_read", "iiii", (*call).streamsRead, ofProgram((*program).fdRead), false},
	{"fd_readdir", "iiiIi", nil, timed((*call).fdReaddir), false},
	{"fd_renumber", "ii", nil, ofProgram((*program).fdRenumber), false},
	{"fd_seek", "iIii", ofStreams((*streams).fdSeek), ofProgram((*program).fdSeek), false},
	{"fd_sync", "i", nil, ofProgram((*program).fdSync), false},
	{"fd_tell", "ii", nil, ofProgram((*program).fdTell), false},
	{"fd_write", "iiii", (*call).streamsWrite, timed((*call).fdWrite), false},
	{"path_create_directory", "iii", nil, ofProgram((*program).pathCreateDirectory), false},
	{"path_filestat_get", "iiiii", nil, ofProgram((*program).pathFilestatGet), false},
	{"path_filestat_set_times", "iiiiIIi", nil, timed((*call).pathFilestatSetTimes), false},
	{"path_link", "iiiiiii", nil, ofProgram((*program).pathLink), true},
	{"path_open", "iiiiiIIii", nil, ofProgram((*program).pathOpen), false},
	{"path_readlink", "iiiiii", nil, ofProgram((*program).pathReadlink), false},
	{"path_remove_directory", "iii", nil, ofProgram((*program).pathRemoveDirectory), false},
	{"path_rename", "iiiiii", nil, ofProgram((*program).pathRename), false},
	{"path_symlink", "iiiii", nil, ofProgram((*program).pathSymlink), true},
	{"path_unlink_file", "iii", nil, ofProgram((*program).pathUnlinkFile), false},
	{"poll_oneoff", "iiii", timed((*call).pollOneoff), timed((*call).pollOneoff), false},
	{"proc_exit", "i", timed((*call).procExit), timed((*call).procExit), false},
	{"proc_raise", "i", nil, timed(answering(errnoNotsup)), true},
	{"sched_yield", "", answering(errnoSuccess), answering(errnoSuccess), false},
	{"random_get", "ii", timed((*call).randomGet), timed((*call).randomGet), false},
	{"sock_accept", "iii", nil, ofProgram((*program).noSocket), true},
	{"sock_recv", "iiiiii", nil, ofProgram((*program).noSocket), true},
	{"sock_send", "iiiii", nil, ofProgram((*program).noSocket), true},
	{"sock_shutdown", "ii", nil, ofProgram((*program).noSocket), true},
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
