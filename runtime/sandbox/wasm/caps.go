package wasm

import "fmt"

// Caps bound the parts of a module. They are far above what compilers emit, and keep reading, rewriting and compiling in
// proportion to the module. The zero value of a field means its default.
type Caps struct {
	// ModuleBytes is the length of the whole module. Default 64 MiB.
	ModuleBytes uint32
	// Types, Imports, Globals, Exports and Customs count the items of their sections. Defaults 10,000, 1,000, 10,000,
	// 10,000 and 1,000.
	Types, Imports, Globals, Exports, Customs uint32
	// Functions are the module's own. Default 50,000.
	Functions uint32
	// Values are the parameters or the results of one type. Default 100.
	Values uint32
	// BodyBytes is the length of one function's code, and Nesting how deep its blocks lie in each other. Defaults 512 KiB
	// and 10,000: compilers of languages with goroutines or coroutines nest a block for each place to resume at.
	BodyBytes, Nesting uint32
	// Branches are those of one function, ifs and what charges for lengths included, and Loops how deep its loops lie in each
	// other. Defaults 8,000 and 100.
	Branches, Loops uint32
	// LocalBranches is the product of the locals, parameters included, and the branches of one function, LocalLoops that of
	// the locals and how deep its loops lie in each other. Defaults 500,000 and 10,000.
	LocalBranches, LocalLoops uint32
	// Blocks counts the blocks, loops and ifs of all functions together. Default 4,000,000.
	Blocks uint32
	// Locals are those of one function beside its parameters, AllLocals those of all functions. Defaults 50,000 and 8,388,608.
	Locals, AllLocals uint32
	// BranchTargets counts the targets of every br_table of one function, AllBranchTargets of all. Defaults 65,520 and
	// 4,000,000.
	BranchTargets, AllBranchTargets uint32
	// Moved counts the values that go along with the branches, calls and blocks of all functions, and Kept those that calls
	// and blocks of one function leave, where they are more than four. Defaults 67,108,864 and 1,048,576. Checking types
	// takes each of them in hand, and keeps the latter.
	Moved, Kept uint32
	// Tables counts them. Default 4.
	Tables uint32
	// TableElements bounds what all tables begin with together, and each at any time. Default 262,144.
	TableElements uint32
	// Segments counts the data segments, and the element segments. Default 100,000 of each.
	Segments uint32
	// Elements are those of all element segments together. Default 262,144.
	Elements uint32
	// DataBytes is the length of all data segments together. Default 64 MiB.
	DataBytes uint32
	// RewrittenBytes is the length of all code once it is rewritten. Default 64 MiB.
	RewrittenBytes uint32
}

// withDefaults returns the caps with every zero replaced.
func (c Caps) withDefaults() Caps {
	for _, f := range []struct {
		cap *uint32
		def uint32
	}{
		{&c.ModuleBytes, 64 << 20},
		{&c.Types, 10_000},
		{&c.Imports, 1_000},
		{&c.Globals, 10_000},
		{&c.Exports, 10_000},
		{&c.Customs, 1_000},
		{&c.Functions, 50_000},
		{&c.Values, 100},
		{&c.BodyBytes, 512 << 10},
		{&c.Nesting, 10_000},
		{&c.Branches, 8_000},
		{&c.Loops, 100},
		{&c.LocalBranches, 500_000},
		{&c.LocalLoops, 10_000},
		{&c.Blocks, 4_000_000},
		{&c.Locals, 50_000},
		{&c.AllLocals, 8 << 20},
		{&c.BranchTargets, 65_520},
		{&c.AllBranchTargets, 4_000_000},
		{&c.Moved, 64 << 20},
		{&c.Kept, 1 << 20},
		{&c.Tables, 4},
		{&c.TableElements, 1 << 18},
		{&c.Segments, 100_000},
		{&c.Elements, 1 << 18},
		{&c.DataBytes, 64 << 20},
		{&c.RewrittenBytes, 64 << 20},
	} {
		if *f.cap == 0 {
			*f.cap = f.def
		}
	}
	return c
}

// A CapError says that a part of a module is over its cap.
type CapError struct {
	// What is the part, in the plural, with where it is counted: "locals of one function".
	What string
	// Found is how much of it the module announces or has; counting may have stopped there.
	Found uint64
	// Limit is the cap.
	Limit uint64
}

// Error returns "FOUND WHAT, at most LIMIT are allowed".
func (e *CapError) Error() string {
	return fmt.Sprintf("%d %s, at most %d are allowed", e.Found, e.What, e.Limit)
}

// A FormatError says where the bytes stop being a module of WebAssembly 2.0.
type FormatError struct {
	// Offset counts from the first byte of the module.
	Offset int
	// Reason is one line for people.
	Reason string
}

// Error returns "offset N: REASON".
func (e *FormatError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason) }
