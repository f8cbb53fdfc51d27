package script

// The caps of a script.
const (
	// MaxBytes is the longest text of a script, in bytes.
	MaxBytes = 1 << 20
	// MaxDepth is how deep its lists and mappings may nest.
	MaxDepth = 64
	// MaxReplies is how many replies a script may have.
	MaxReplies = 1_000
	// MaxCalls is how many calls one answer may ask for.
	MaxCalls = 10_000
	// MaxText is the longest text of an answer, in bytes, and the most that the inputs of its calls may have together. It is
	// more than a client reads, so that this can be tried too.
	MaxText = 64 << 20
	// MaxWork is how many instructions of the interpreter the expressions may take together for one answer.
	MaxWork = 4_000_000
	// MaxNumber is how long a number may be that an expression sees, in bytes.
	MaxNumber = 4096
)

// Script is a script that was found to be in order. It does not change, and may answer several requests at once.
type Script struct {
	replies []reply
	seen    seen
}

// seen are the fields of the context that some expression looks at, so that the others need not be made.
type seen struct {
	names map[string]bool
	whole bool
}

func (s *seen) has(name string) bool { return s.whole || s.names[name] }

// reply is one reply of a script.
type reply struct {
	line int
	when *expr // nil: always

	say    template // nil: no text
	repeat int      // how often the text is said
	calls  []call
	list   template // instead of calls: gives a list of them

	usage map[string]template
	stop  string
	cut   bool
}

// call is one call that a reply asks for.
type call struct {
	line           int
	tool, with, id template // with and id may be nil
	arguments      template // nil: with counts
}
