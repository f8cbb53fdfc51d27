package wasm

// The types of values, as the binary format writes them.
const (
	I32       byte = 0x7f
	I64       byte = 0x7e
	F32       byte = 0x7d
	F64       byte = 0x7c
	V128      byte = 0x7b
	FuncRef   byte = 0x70
	ExternRef byte = 0x6f
)

// typeName returns the name of a type in the text format, "" when there is no such type.
func typeName(t byte) string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case FuncRef:
		return "funcref"
	case ExternRef:
		return "externref"
	}
	return ""
}

// FuncType is a signature; the bytes are types of values.
type FuncType struct{ Params, Results []byte }

// String writes the signature as (i32,i64)->(i32).
func (t FuncType) String() string { return typeNames(t.Params) + "->" + typeNames(t.Results) }

func typeNames(types []byte) string {
	s := "("
	for i, t := range types {
		if i > 0 {
			s += ","
		}
		s += typeName(t)
	}
	return s + ")"
}

// Kind is what an import or an export is.
type Kind byte

// The kinds.
const (
	KindFunc Kind = iota
	KindTable
	KindMemory
	KindGlobal
)

var kindNames = [...]string{KindFunc: "function", KindTable: "table", KindMemory: "memory", KindGlobal: "global"}

// String returns the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Import is one item that a module takes from its host. Type is the signature of a function and zero otherwise.
type Import struct {
	Module, Name string
	Kind         Kind
	Type         FuncType

	typ uint32 // the index of Type
}

// Export is one item that a module shows. Index counts within its kind, imports first.
type Export struct {
	Name  string
	Kind  Kind
	Index uint32
}

// Limits are those of a table (elements) or a memory (pages of 64 KiB). Max is 0 when HasMax is false.
type Limits struct {
	Min, Max uint32
	HasMax   bool

	elem byte // of a table
}

// Custom is a custom section. Content is not copied.
type Custom struct {
	Name    string
	Content []byte

	at section
}

// global is a variable of the module's own; init is its constant expression with its end.
type global struct {
	typ     byte
	mutable bool
	init    []byte
}

// segment is a piece of the initial memory. Its offset is a constant expression with its end, nil when it is passive.
type segment struct{ offset, content []byte }

// function is one of the module's own: its type, and its body without its length: declarations of locals, then code.
type function struct {
	typ    uint32
	locals uint32 // beside the parameters
	slots  uint32 // of parameters and locals
	from   int    // where the body begins in the module
	body   []byte
	code   int // where in body the code begins

	weight  uint64 // of all its instructions
	plain   uint64 // the weight without values that are moved
	places  uint64 // see scale
	calls   bool
	scratch bool // it works on pieces whose length has to be charged
}
