package hostile

import (
	"cmp"
	"slices"
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// ToolName is the name of the tool that the modules offer.
const ToolName = "it"

// Memory is the limit of memory of the calls, in bytes.
const Memory = 16 << 20

// Deadline is the limit of time of the cases that would not end.
const Deadline = 100 * time.Millisecond

// Case is one module, or several of one kind, and what must come of it.
type Case struct {
	// Name is unique and fit for a file name.
	Name string
	// Row is what it is an instance of; see Rows.
	Row string
	// Modules makes the modules: one, unless they differ in a detail.
	Modules func() [][]byte
	// Want is what comes of each of them.
	Want Want
	// Host says how host functions answer: Answers is the zero value.
	Host Host
	// Timeout ends the call; 0 means that it ends by itself.
	Timeout time.Duration
	// Fuel is the limit of fuel of the call, 0 none.
	Fuel uint64
	// Compile says that harm is done while it is compiled, which is another process's then, so that it may be refused for that
	// instead.
	Compile bool
}

// Want is what comes of a module; one field is set beside Says, or none of them: then the output is an empty object.
type Want struct {
	// Load is the kind of the LoadError.
	Load sandbox.LoadKind
	// Refused is a LoadError of any kind.
	Refused bool
	// Code is that of the outcome's error.
	Code toolabi.Code
	// Fault is an error that is the host's: neither a LoadError nor an outcome.
	Fault bool
	// Says is part of the message.
	Says string
}

// Host is how host functions answer.
type Host uint8

const (
	// Answers at once, with an empty reply.
	Answers Host = iota
	// Panics while it is asked.
	Panics
	// Waits until the call's time is over.
	Waits
	// Floods with the largest reply that is allowed.
	Floods
)

// Bytes returns the first module of the case with this name, nil when there is no such case.
func Bytes(name string) []byte {
	for _, c := range Cases() {
		if c.Name == name {
			return c.Modules()[0]
		}
	}
	return nil
}

// Cases returns all of them, in the order of Rows.
func Cases() []Case {
	all := slices.Concat(structure(), sizes(), endless(), fanOut(), bulk(), memories(), recursion(), imports(), exports(),
		pointers(), hostCalls(), traps(), proposals(), tampering(), compiling(), instances())
	slices.SortStableFunc(all, func(a, b Case) int { return cmp.Compare(a.Row, b.Row) })
	return all
}

// refused is a case of a module that is refused at load.
func refused(row, name string, kind sandbox.LoadKind, says string, wasm func() []byte) Case {
	return Case{Name: name, Row: row, Modules: just(wasm), Want: Want{Load: kind, Says: says}}
}

// runs is a case of a tool that is entered.
func runs(row, name string, code toolabi.Code, says string, change func(t *tool)) Case {
	return Case{Name: name, Row: row, Modules: just(made(change)), Want: Want{Code: code, Says: says}}
}

// stopped is a case of a tool that does not end by itself. Its manifest says the limit of time too, for whoever goes by that.
func stopped(row, name string, change func(t *tool)) Case {
	c := runs(row, name, toolabi.LimitTime, "", func(t *tool) {
		t.manifest.Limits.TimeoutMS = uint64(Deadline.Milliseconds())
		change(t)
	})
	c.Timeout = Deadline
	return c
}

// harmless is a case of a tool that must get through.
func harmless(row, name string, change func(t *tool)) Case { return runs(row, name, 0, "", change) }

func just(wasm func() []byte) func() [][]byte {
	return func() [][]byte { return [][]byte{wasm()} }
}

// made returns what makes the bytes of a tool.
func made(change func(t *tool)) func() []byte {
	return func() []byte {
		t := newTool()
		change(t)
		return t.bytes()
	}
}
