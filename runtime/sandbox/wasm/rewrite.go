package wasm

import (
	"bytes"
	"fmt"
	"strings"
)

// Names that Rewrite adds to a module. One that uses such a name itself is refused.
const (
	// HostModule is what a rewritten module imports its host's own functions from.
	HostModule = "wrun:host"
	// RefillImport is a function of type (i64)->(i64) there: it gets the gauge when its fuel is used up, and returns the gauge
	// to go on with.
	RefillImport = "refill"
	// GaugeExport is a mutable global of type i64; see Gauge.
	GaugeExport = "wrun:gauge"
	// GlobalExport, with a number behind it, is a mutable global of the module's own by its index.
	GlobalExport = "wrun:global:"

	reserved = "wrun:"
)

// Bounds are the numbers that Rewrite builds into a module.
type Bounds struct {
	// StackBytes is how much of the native stack calls in each other may use, as far as Rewrite can estimate it. Default
	// 16 MiB.
	StackBytes uint32
}

const defaultStack = 16 << 20

// withDefaults returns the bounds with every zero replaced.
func (b Bounds) withDefaults() Bounds {
	if b.StackBytes == 0 {
		b.StackBytes = defaultStack
	}
	return b
}

// Rewrite returns the same program with bounds built in, which is what the compiler should get:
//
//   - Every function charges the gauge when it is entered, and every branch back to a loop when it is reached, in proportion
//     to the code that can run before the next charge. What works on pieces of memories and tables is charged by their
//     length, and pieces of memory over 64 KiB are worked on bit by bit. Where the gauge's fuel is below zero, the host is
//     asked to refill it, and may end the program there. So the host has a turn after a bounded amount of work, however a
//     program is written.
//   - Every function that calls others accounts for its native stack in the same gauge.
//   - Every table has a maximum.
//   - A reference to a function is made once for each instance and function, not each time that code asks for it.
//   - The initial memory comes in few pieces, none of them large, and custom sections are left out, so that a manifest can change without a new
//     compilation and the compiler decodes nothing that was not checked.
//   - The mutable globals are exported.
//   - A memory with a maximum that is neither 0 nor 65536 pages gets one of a page more, and it is the host's to refuse the module
//     that page. A compiler's runtime asks its host for a memory of another length only where the memory may still grow, so a host
//     that gives an instance a shorter one, to use it again, has to find room to grow in every instance.
//
// The same module and bounds give the same bytes. A program that is not ended computes what it did before; one that is not
// valid stays invalid. The error is a *FormatError for a name that is reserved, a *CapError where the code becomes too long, or
// says that the code of an outline was not read.
func (m *Module) Rewrite(b Bounds) ([]byte, error) {
	if m.outline {
		return nil, errNotRead
	}
	if err := m.checkReserved(); err != nil {
		return nil, err
	}
	w := newRewriter(m, b)
	code, err := w.code() // which adds to the types and functions that stand before it
	if err != nil {
		return nil, err
	}
	w.note()
	return w.assemble(code), nil
}

// assemble writes the new module.
func (w *rewriter) assemble(code []byte, more ...written) []byte {
	sections := append(w.sections(code), more...)
	size := 8
	for _, s := range sections {
		size += 6 + len(s.content)
	}
	var out bytes.Buffer
	out.Grow(size)
	out.Write(w.m.wasm[:8])
	for _, s := range sections {
		if s.content != nil {
			writeSection(&out, s.id, s.content)
		}
	}
	return out.Bytes()
}

func (m *Module) checkReserved() error {
	for _, i := range m.Imports {
		if strings.HasPrefix(i.Module, reserved) {
			return &FormatError{Reason: fmt.Sprintf("it imports from %.80q, and names that begin with %s are the host's own", i.Module, reserved)}
		}
	}
	for _, e := range m.Exports {
		if strings.HasPrefix(e.Name, reserved) {
			return &FormatError{Reason: fmt.Sprintf("it exports %.80q, and names that begin with %s are the host's own", e.Name, reserved)}
		}
	}
	return nil
}

// rewriter holds what is added to a module.
type rewriter struct {
	m     *Module
	types []FuncType        // the module's and new ones
	index map[string]uint32 // where each of them stands first, by its key
	stack uint32            // the stack that there is, in stack units

	refill uint32 // the index of the imported function; the module's own move up by one
	gauge  uint32 // the index of the global
	pieces pieces
	refs   references
	data   initialData
}

func newRewriter(m *Module, b Bounds) *rewriter {
	w := &rewriter{
		m:      m,
		types:  append([]FuncType(nil), m.Types...),
		stack:  b.withDefaults().StackBytes / stackUnit,
		refill: uint32(m.imported[KindFunc]),
		gauge:  uint32(m.imported[KindGlobal] + len(m.globals)),
		data:   m.initialData(),
	}
	w.index = make(map[string]uint32, len(w.types)+2)
	for i, t := range w.types {
		if _, ok := w.index[t.key()]; !ok {
			w.index[t.key()] = uint32(i)
		}
	}
	w.typ(refillType)
	return w
}

// typ returns the index of a signature. A module may have thousands of types, and functions that each need one.
func (w *rewriter) typ(t FuncType) uint32 {
	i, ok := w.index[t.key()]
	if !ok {
		i = uint32(len(w.types))
		w.types = append(w.types, t)
		w.index[t.key()] = i
	}
	return i
}

// key is the same for equal signatures only; no type of a value is written as 0.
func (t FuncType) key() string { return string(t.Params) + "\x00" + string(t.Results) }

// moved returns the new index of a function.
func (w *rewriter) moved(function uint32) uint32 {
	if function >= w.refill {
		return function + 1
	}
	return function
}
