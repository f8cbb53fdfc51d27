package wasm

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// Facts are what only the code of a module says about the rest of it: how it changes an instance, and what Rewrite adds for its
// sake. Together with everything else of the module they are enough for Hollow.
type Facts struct {
	// GrowsTables says that code grows a table, and ChangesTables what the method of this name does.
	GrowsTables, ChangesTables bool
	// Types are the signatures that stand behind the module's own, and Functions the types of the functions that do.
	Types     []FuncType
	Functions []uint32
	// References are the functions to which globals refer that stand behind the gauge, by the indices that they have in the
	// module itself.
	References []uint32
}

// Facts returns what Rewrite has found, or the outline was read with. Before, there is nothing in them.
func (m *Module) Facts() Facts {
	if m.facts == nil {
		return Facts{}
	}
	return *m.facts
}

// ParseOutline reads a module whose code was read before: all but the code, with what was found then in its place. It holds
// everything else against the caps again. The error is a *CapError or a *FormatError.
//
// The facts are believed. The caller knows that they are those of these bytes, and that Parse took them under these caps and
// these Rules.
func ParseOutline(wasm []byte, caps Caps, facts Facts) (*Module, error) {
	m := &Module{wasm: wasm, caps: caps.withDefaults(), outline: true, facts: &facts, growsTables: facts.GrowsTables, changesTables: facts.ChangesTables}
	if err := m.read(); err != nil {
		return nil, err
	}
	return m, nil
}

// note keeps what was found while the code was rewritten.
func (w *rewriter) note() {
	f := &Facts{GrowsTables: w.m.growsTables, ChangesTables: w.m.changesTables, Types: w.types[len(w.m.Types):], References: w.refs.functions}
	for _, added := range w.pieces.added {
		f.Functions = append(f.Functions, added.typ)
	}
	w.m.facts = f
}

var (
	errNotRead      = errors.New("the code of the module was not read")
	errNotRewritten = errors.New("the code of the module was not rewritten")
)

// Hollow returns the module as Rewrite wrote it with every function empty: what there is in an instance of it has the same place,
// and the code is missing. Its one custom section names what it stands for, which is the digest of the whole: two modules that
// differ in their code only are two hollow ones. The module was rewritten with these bounds before, or is an outline.
func (m *Module) Hollow(b Bounds, whole [sha256.Size]byte) ([]byte, error) {
	if m.facts == nil {
		return nil, errNotRewritten
	}
	w := newRewriter(m, b)
	for _, t := range m.facts.Types {
		w.typ(t)
	}
	if added := len(w.types) - len(m.Types); added != len(m.facts.Types) {
		return nil, fmt.Errorf("%d types are added, and %d are known", added, len(m.facts.Types))
	}
	for _, typ := range m.facts.Functions {
		w.pieces.added = append(w.pieces.added, function{typ: typ})
	}
	w.refs.functions = m.facts.References
	return w.assemble(hollowCode(len(m.funcs)+len(m.facts.Functions)), written{secCustom, append(appendName(nil, hollowName), whole[:]...)}), nil
}

// hollowName is the name of the custom section of a hollow module.
const hollowName = reserved + "hollow"

// hollowCode writes a code section of so many functions, each of which has no locals and traps.
func hollowCode(functions int) []byte {
	if functions == 0 {
		return nil
	}
	b := appendU32(make([]byte, 0, 5+4*functions), uint32(functions))
	for range functions {
		b = append(b, 3, 0, opUnreachable, opEnd)
	}
	return b
}
