// Package sandbox runs one call of one tool inside WebAssembly, bounded and deterministic: load, judge, compile,
// instantiate, invoke. It is the only package that imports wazero, and no type of wazero leaves it.
//
// What a call computes depends on its toolabi.Invocation and on what its host functions answer, on nothing else: the
// clock stands where the invocation says and moves with recorded answers and the guest's own sleeps, randomness comes
// from the invocation's seed, there are no files, no arguments, no environment.
//
// A module whose manifest has a Command is a program of WASI preview 1 and is run otherwise: its input is its standard input,
// and it sees, beside the arguments of its manifest, the directories of the invocation, which are the world's. Nothing outside
// of them can be reached: every path goes through an os.Root.
//
// A call has a clean instance: nothing that another call did to it can be seen. Most come from a pool, and were put back to what
// _initialize left (package memory).
//
// It is not the place where anything is decided or written down: which host functions a tool may use, what a call may
// cost in time and what becomes of its outcome belong to the runtime, which passes in a toolabi.HostFunc and a context.
//
// A module is judged before any of it runs, and written again with bounds built in (package wasm), so that whatever it does
// the host has a turn at least every 20 ms: its deadline is kept, and the process's garbage collector is not held up.
// All calls together have a budget of memory, for which they wait. Compiling is bounded in time and memory
// where Config.Compiler does it in another process, and is not counted there.
package sandbox
