package toolabi

import "strconv"

// Class says what a step does to the world, and so what is written down about it and what follows when it is cut off.
type Class uint8

// The classes, in the order of docs/design.md. The numbers are written into journals and never change.
const (
	// Free leaves no trace: the guest cannot see its outcome.
	Free Class = 1
	// Read observes. Its outcome is recorded once known; cut off, it is done again.
	Read Class = 2
	// Local changes wrun's own store, in the same transaction as the entry that records it.
	Local Class = 3
	// Effect may be done again under the same idempotency key. Its intent is durable first.
	Effect Class = 4
	// Once must not be done again. Its intent is durable first; cut off, it is uncertain.
	Once Class = 5
	// Wait gets its outcome from outside: a person, the clock.
	Wait Class = 6
	// Call is the invocation of a tool. Cut off, the module is entered again and answered from the log.
	Call Class = 7
)

var classNames = map[Class]string{
	Free: "free", Read: "read", Local: "local", Effect: "effect", Once: "once", Wait: "wait", Call: "call",
}

// String returns the class's name in lower case, or its number when there is none.
func (c Class) String() string {
	if s, ok := classNames[c]; ok {
		return s
	}
	return "class " + strconv.Itoa(int(c))
}

// Idempotency is what a tool promises about being done twice.
type Idempotency string

// The five declarations. Nothing declared means NonIdempotent.
const (
	// Pure tools use nothing but log and progress.
	Pure Idempotency = "pure"
	// ReadOnly tools use Read functions besides, and call tools that are Pure or ReadOnly themselves.
	ReadOnly Idempotency = "read"
	// Idempotent tools may be done again: their sends are Effects.
	Idempotent Idempotency = "idempotent"
	// Keyed tools may be done again under one idempotency key, for as long as the provider remembers it (key_ttl).
	Keyed Idempotency = "keyed"
	// NonIdempotent tools must not be done again: their sends are Once.
	NonIdempotent Idempotency = "non_idempotent"
)

// Idempotencies lists the declarations in the order of the documentation.
var Idempotencies = []Idempotency{Pure, ReadOnly, Idempotent, Keyed, NonIdempotent}

// Allows says whether a tool that declares i may use a host function of class c. Which tools a ReadOnly one may call is
// judged at the call.
func (i Idempotency) Allows(c Class) bool {
	switch i {
	case Pure:
		return c == Free
	case ReadOnly:
		return c == Free || c == Read || c == Call
	}
	return true
}

// Weaken returns the class that a function of class c has inside a tool that declares i: what must not be repeated
// may be repeated where the tool says so.
func (i Idempotency) Weaken(c Class) Class {
	if c == Once && (i == Idempotent || i == Keyed) {
		return Effect
	}
	return c
}
