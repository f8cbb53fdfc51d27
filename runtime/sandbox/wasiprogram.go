package sandbox

import (
	"context"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wrun-dev/wrun/toolabi"
)

// programFunc is a function of WASI as a program sees it: it gets the parameters and returns an errno. Of a parameter of 32 bits
// only the lower half counts; what the upper half holds is not said.
type programFunc func(c *call, ctx context.Context, mod api.Module, a []uint64) uint32

// programFuncs are those that wazero does not do for a program, in the order of wasiFuncs.
var programFuncs = []struct {
	name string
	fn   programFunc
}{
	{"fd_advise", ofProgram((*program).fdAdvise)},
	{"fd_allocate", ofProgram((*program).fdAllocate)},
	{"fd_close", ofProgram((*program).fdClose)},
	{"fd_datasync", ofProgram((*program).fdSync)},
	{"fd_fdstat_get", ofProgram((*program).fdFdstatGet)},
	{"fd_fdstat_set_flags", ofProgram((*program).fdFdstatSetFlags)},
	{"fd_fdstat_set_rights", ofProgram((*program).notSupported)},
	{"fd_filestat_get", ofProgram((*program).fdFilestatGet)},
	{"fd_filestat_set_size", ofProgram((*program).fdFilestatSetSize)},
	{"fd_filestat_set_times", (*call).fdFilestatSetTimes},
	{"fd_pread", ofProgram((*program).fdPread)},
	{"fd_prestat_get", ofProgram((*program).fdPrestatGet)},
	{"fd_prestat_dir_name", ofProgram((*program).fdPrestatDirName)},
	{"fd_pwrite", ofProgram((*program).fdPwrite)},
	{"fd_read", ofProgram((*program).fdRead)},
	{"fd_readdir", (*call).fdReaddir},
	{"fd_renumber", ofProgram((*program).fdRenumber)},
	{"fd_seek", ofProgram((*program).fdSeek)},
	{"fd_sync", ofProgram((*program).fdSync)},
	{"fd_tell", ofProgram((*program).fdTell)},
	{"fd_write", (*call).fdWrite},
	{"path_create_directory", ofProgram((*program).pathCreateDirectory)},
	{"path_filestat_get", ofProgram((*program).pathFilestatGet)},
	{"path_filestat_set_times", (*call).pathFilestatSetTimes},
	{"path_link", ofProgram((*program).pathLink)},
	{"path_open", ofProgram((*program).pathOpen)},
	{"path_readlink", ofProgram((*program).pathReadlink)},
	{"path_remove_directory", ofProgram((*program).pathRemoveDirectory)},
	{"path_rename", ofProgram((*program).pathRename)},
	{"path_symlink", ofProgram((*program).pathSymlink)},
	{"path_unlink_file", ofProgram((*program).pathUnlinkFile)},
	{"poll_oneoff", func(c *call, _ context.Context, mod api.Module, a []uint64) uint32 { return c.pollOneoff(mod, a) }},
	{"proc_exit", (*call).procExit},
	{"proc_raise", ofProgram((*program).notSupported)},
	{"random_get", (*call).randomGet},
	{"sock_accept", ofProgram((*program).noSocket)},
	{"sock_recv", ofProgram((*program).noSocket)},
	{"sock_send", ofProgram((*program).noSocket)},
	{"sock_shutdown", ofProgram((*program).noSocket)},
}

func ofProgram(fn func(p *program, ctx context.Context, mod api.Module, a []uint64) uint32) programFunc {
	return func(c *call, ctx context.Context, mod api.Module, a []uint64) uint32 {
		return fn(c.program, ctx, mod, a)
	}
}

// linkProgramWASI links WASI preview 1 as programs see it: arguments, environment and clocks are wazero's, fed with the
// call's own; what reads, writes, draws, waits or leaves is ours, and looks first whether the call is over.
func linkProgramWASI(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(toolabi.WASIModule)
	wasi.NewFunctionExporter().ExportFunctions(b)
	for _, p := range programFuncs {
		f, _ := wasiByName(p.name)
		results := letters(f.results())
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
			c := callFrom(ctx)
			c.pause(ctx)
			errno := p.fn(c, ctx, mod, stack)
			if len(results) > 0 {
				stack[0] = uint64(errno)
			}
		}), letters(f.params), results).Export(f.name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("link %s: %w", toolabi.WASIModule, err)
	}
	return nil
}

func (c *call) procExit(_ context.Context, _ api.Module, a []uint64) uint32 {
	c.leave(uint32(a[0]))
	return errnoSuccess
}

func (c *call) randomGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	b, ok := guestBytes(mod, uint32(a[0]), uint32(a[1]))
	if !ok {
		return errnoFault
	}
	if _, err := io.ReadFull(&c.random, b); err != nil {
		return errnoIO
	}
	return errnoSuccess
}
