package wrun_test

import (
	"slices"
	"strings"
)

// The dimensions of the recovery table. A tool that promises "keyed in time" or "keyed too late" is the same tool: what
// was cut off is gone on with inside of the time for which the key is remembered, or after it.
var (
	promises  = []string{"pure", "read", "idempotent", "keyed in time", "keyed too late", "once", "looked up"}
	functions = []string{
		"log",                // Free
		"fetch",              // Read
		"send",               // Effect or Once, as the tool promises
		"sleep",              // Wait, for the clock
		"approve",            // Wait, for a person
		"call of its like",   // Call, of a tool with the same promise, which is cut off while it sends
		"call of once",       // Call, of a tool that must not be repeated, which is cut off while it sends
		"nothing but itself", // the call of the tool itself, outside of any function
	}
	moments = []string{
		"announcing", // killed before the intent is durable; where there is none, before the thing is done
		"announced",  // killed after the intent is durable, with nothing done
		"done",       // killed after it was done, before the result is durable
		"recorded",   // killed after the result is durable
		"lost",       // the process lives, and the outcome is unknown: the server acts and drops the connection
		"failed",     // the process lives, and it failed with nothing sent
		"stopped",    // the process lives, and stops immediately before the first byte
	}
	attempts = []string{
		"first",
		"after a void",  // the second attempt of the function: somebody has said that the first did not happen
		"after a retry", // in the second attempt of the call: the first failed, and its policy permits another one
	}
	// What is said where something has to be: by a look-up, by a person about an effect, by a person who is asked.
	verdicts = []string{"happened", "did not happen", "too early", "cannot tell", "fails"}
	says     = []string{"says happened", "says did not happen", "says so with another key", "says nothing"}
	replies  = []string{"yes", "no", "says nothing"}
)

// cell is one combination. said is "" where nothing is to be said.
type cell struct{ promise, function, moment, attempt, said string }

func (c cell) String() string {
	return strings.TrimSuffix(strings.Join([]string{c.promise, c.function, c.moment, c.attempt, c.said}, "/"), "/")
}

// cells returns every combination.
func cells() (all []cell) {
	for _, p := range promises {
		for _, f := range functions {
			for _, m := range moments {
				for _, a := range attempts {
					c := cell{promise: p, function: f, moment: m, attempt: a}
					for _, c.said = range c.words() {
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// words returns what may be said in a combination.
func (c cell) words() []string {
	switch {
	case c.function == "approve" && c.promise != "pure" && c.promise != "read":
		return replies
	case !c.inDoubt():
		return []string{""}
	case c.sender() == "looked up":
		return verdicts
	}
	return says
}

// sender is the promise of the tool that sends, "" where none does.
func (c cell) sender() string {
	switch c.function {
	case "send", "call of its like":
		return c.promise
	case "call of once":
		return "once"
	}
	return ""
}

// inDoubt says whether nobody knows what became of the effect: it must not be repeated, it may have left, and there is no
// result. What may be repeated must not be any more once its key is forgotten; after a void it is sent as such at once.
func (c cell) inDoubt() bool {
	once := c.sender() == "once" || c.sender() == "looked up"
	switch {
	case c.sender() == "" || c.denied():
		return false
	case c.sender() == "keyed too late" && c.attempt != "after a void":
		return slices.Contains([]string{"announced", "done", "stopped"}, c.moment)
	case c.sender() == "keyed too late", once:
		return slices.Contains([]string{"announced", "done", "lost"}, c.moment)
	}
	return false
}

// denied says whether the promise does not allow the function: none of class Wait, Effect or Once in a tool that reads,
// and nothing at all in a pure one.
func (c cell) denied() bool {
	switch c.function {
	case "log", "nothing but itself":
		return false
	case "fetch":
		return c.promise == "pure"
	}
	return c.promise == "pure" || c.promise == "read"
}

// recoveryRule is what is expected of some cells. Its columns are words separated by |, or * for all; the first rule that fits a
// cell holds for it. count is how many cells it holds for.
type recoveryRule struct {
	promise, function, moment, attempt, said string
	count                                    int
	// row is the first column of the row in docs/journal.md that says so, or why the combination cannot exist.
	row  string
	want want
}

// want is what a cell shows. Counts begin with the drive that is cut off.
type want struct {
	cut, resume, end string // how the drives end: the one that is cut off, the next one, and the one after something was said
	saw              string // what the tool saw of the function
	reached          int    // requests of it that reached the server
	keys             int    // different keys that were announced
	entered          int    // times that the tool was entered again
	looked           int    // times that the look-up was entered
	log              string // the entries about the step; > marks those of a later attempt
}

func (r recoveryRule) fits(c cell) bool {
	for _, col := range [][2]string{
		{r.promise, c.promise}, {r.function, c.function}, {r.moment, c.moment}, {r.attempt, c.attempt}, {r.said, c.said},
	} {
		if col[0] != "*" && !slices.Contains(strings.Split(col[0], "|"), col[1]) {
			return false
		}
	}
	return true
}

// The rows of docs/journal.md.
const (
	rowKnown     = "an intent and a result"
	rowNothing   = "nothing"
	rowDoubt     = "an intent of what must not be repeated, no result"
	rowUnsent    = "the same, and evidence that nothing was sent"
	rowHappened  = "the same, and a look-up that finds it"
	rowNotThere  = "the same, and a look-up that does not find it once the request has settled"
	rowTooEarly  = "the same, and a look-up that does not find it before that"
	rowNoVerdict = "the same, and a look-up that cannot tell, or fails"
	rowOpenCall  = "an open call with nothing of that kind open inside"
	rowToolCall  = "an open call of a tool by another tool"
	rowRepeat    = "an intent of what may be repeated, no result"
	rowExpired   = "a keyed effect past the time for which its key is remembered, no result"
	rowAskedTwo  = "the same, and the tool repeats a request whose outcome it does not know"
	rowRetry     = "a failed call whose result permits another attempt"
	rowDenied    = "a denial"
	rowAgree     = "a question whether a call may begin, without a yes"
	rowWaits     = "a wait without a result"
	rowDue       = "a wait for a time that has come, no result"
	rowAnswered  = "an answer to a question"
	rowVoid      = "a void"
	rowNewKey    = "a void with another key"
	rowFinished  = "finished"
	rowOther     = "another request, function or module than is asked for"
	rowUnasked   = "steps that driver or tool did not ask for when they ended"
	rowRestored  = "restored, not confirmed, and a step that must not be repeated, or whose key is remembered for a time only"
	rowLate      = "late entries that nobody acknowledged"
	rowCancel    = "cancel"
)

const sends = "send|call of its like|call of once"

// impossible is what is wanted of a combination that cannot exist.
var impossible = want{cut: "impossible"}

// rules is the recovery table, spelled out. It is written from docs/journal.md, not from what the engine does.
var rules = []recoveryRule{
	// What cannot be.
	{"pure", "*", "*", "after a retry", "*", 56, "a pure tool does the same in each attempt, so no second one goes on where the first failed", impossible},
	{"*", "log|fetch|sleep|approve|nothing but itself", "*", "after a void", "*", 315, "only an effect is said not to have happened", impossible},
	{"pure|read", sends, "*", "after a void", "*", 42, "what is denied is never in doubt", impossible},
	{"*", "log", "announced|recorded", "*", "*", 26, "what is Free leaves no trace", impossible},
	{"*", "log", "lost|failed|stopped", "*", "*", 39, "what is Free has no outcome", impossible},
	{"read|idempotent|keyed in time|keyed too late|once|looked up", "fetch", "announced|stopped", "*", "*", 24, "a Read is not announced, and nothing holds it back", impossible},
	{"idempotent|keyed in time|keyed too late|once|looked up", "sleep|approve", "lost|failed|stopped", "*", "*", 120, "a Wait sends nothing", impossible},
	{"idempotent|keyed in time|keyed too late|once|looked up", "approve", "recorded", "*", "says nothing", 10, "what is recorded is what somebody said", impossible},
	{"*", "nothing but itself", "lost|stopped", "*", "*", 26, "what is unknown of a call, or held back, is inside of it", impossible},
	{"*", sends, "announced|stopped", "*", "says happened|happened", 37, "it did not, and nobody lies in this table", impossible},
	{"*", sends, "done|lost", "*", "says did not happen|says so with another key|did not happen|too early", 124, "it did, and nobody lies in this table", impossible},

	// What a tool must not use is denied at the call. See TestAModuleIsRefusedAtLoad for modules of which no tool may use it.
	{"pure", "fetch|send|sleep|approve|call of its like|call of once", "announcing", "*", "*", 6, rowNothing,
		want{cut: "killed", resume: "done", saw: "denied", entered: 1, log: "denied"}},
	{"pure", "fetch|send|sleep|approve|call of its like|call of once", "recorded", "*", "*", 6, rowDenied,
		want{cut: "killed", resume: "done", saw: "denied", entered: 1, log: "denied"}},
	{"read", "send|sleep|approve|call of its like|call of once", "announcing", "*", "*", 10, rowNothing,
		want{cut: "killed", resume: "done", saw: "denied", entered: 1, log: "denied"}},
	{"read", "send|sleep|approve|call of its like|call of once", "recorded", "*", "*", 10, rowDenied,
		want{cut: "killed", resume: "done", saw: "denied", entered: 1, log: "denied"}},
	{"pure", "fetch|send|sleep|approve|call of its like|call of once", "*", "*", "*", 30, "what is denied is not done", impossible},
	{"read", "send|sleep|approve|call of its like|call of once", "*", "*", "*", 50, "what is denied is not done", impossible},

	// Free.
	{"*", "log", "announcing|done", "*", "*", 26, rowNothing, want{cut: "killed", resume: "done", saw: "said", entered: 1}},

	// Read.
	{"*", "fetch", "announcing", "*", "*", 12, rowNothing, want{cut: "killed", resume: "done", saw: "200", reached: 1, entered: 1, log: "result"}},
	{"*", "fetch", "done", "*", "*", 12, rowNothing, want{cut: "killed", resume: "done", saw: "200", reached: 2, entered: 1, log: "result"}},
	{"*", "fetch", "recorded", "*", "*", 12, rowOpenCall, want{cut: "killed", resume: "done", saw: "200", reached: 1, entered: 1, log: "result"}},
	{"*", "fetch", "lost", "*", "*", 12, rowOpenCall, want{cut: "killed", resume: "done", saw: "unavailable", reached: 1, entered: 1, log: "failed"}},
	{"*", "fetch", "failed", "first", "*", 6, rowRetry,
		want{cut: "waiting", resume: "done", saw: "200", reached: 1, entered: 1, log: "failed >result"}},
	{"*", "fetch", "failed", "after a retry", "*", 6, rowFinished, want{cut: "failed", resume: "failed", log: "failed"}},

	// Effects of every kind, before the intent and after the result, and those that failed.
	{"*", sends, "announcing", "first|after a retry", "*", 30, rowNothing,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent result"}},
	{"*", sends, "announcing", "after a void", "*", 15, rowVoid,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent result"}},
	{"*", sends, "recorded", "*", "*", 45, rowOpenCall,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent result"}},
	{"*", sends, "failed", "first|after a void", "*", 30, rowRetry,
		want{cut: "waiting", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent failed >intent >result"}},
	{"*", sends, "failed", "after a retry", "*", 15, rowFinished,
		want{cut: "failed", resume: "failed", keys: 1, log: "intent failed"}},

	// What must not be repeated and was stopped before the first byte.
	{"*", "call of once", "stopped", "*", "*", 15, rowUnsent,
		want{cut: "stopped", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent evidence void >intent >result"}},
	{"once|looked up", "send|call of its like", "stopped", "*", "*", 12, rowUnsent,
		want{cut: "stopped", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent evidence void >intent >result"}},
	{"keyed too late", "send|call of its like", "stopped", "after a void", "*", 2, rowUnsent,
		want{cut: "stopped", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent evidence void >intent >result"}},

	// What may be repeated, at all or as long as its key is remembered.
	{"idempotent|keyed in time", "call of its like", "announced", "*", "*", 6, rowToolCall,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent result"}},
	{"idempotent|keyed in time", "send", "announced", "*", "*", 6, rowRepeat,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent result"}},
	{"idempotent|keyed in time", "send|call of its like", "stopped", "*", "*", 12, rowRepeat,
		want{cut: "stopped", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, log: "intent result"}},
	{"idempotent|keyed in time", "send|call of its like", "done", "*", "*", 12, rowRepeat,
		want{cut: "killed", resume: "done", saw: "201", reached: 2, keys: 1, entered: 1, log: "intent result"}},
	{"idempotent|keyed in time", "send|call of its like", "lost", "*", "*", 12, rowKnown,
		want{cut: "killed", resume: "done", saw: "unavailable, 201", reached: 2, keys: 1, entered: 1, log: "intent failed"}},
	{"keyed too late", "send|call of its like", "lost", "first|after a retry", "*", 4, rowAskedTwo,
		want{cut: "killed", resume: "done", saw: "unavailable, expired", reached: 1, keys: 1, entered: 1, log: "intent failed"}},

	// What was repeatable and is not any more.
	{"keyed too late", "send|call of its like", "announced", "first|after a retry", "says did not happen", 4, rowExpired,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, log: "intent expired void >intent >result"}},
	{"keyed too late", "send|call of its like", "announced", "first|after a retry", "says so with another key", 4, rowExpired,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 2, entered: 2, log: "intent expired void >intent >result"}},
	{"keyed too late", "send|call of its like", "stopped", "first|after a retry", "says did not happen", 4, rowExpired,
		want{cut: "stopped", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, log: "intent expired void >intent >result"}},
	{"keyed too late", "send|call of its like", "stopped", "first|after a retry", "says so with another key", 4, rowExpired,
		want{cut: "stopped", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 2, entered: 2, log: "intent expired void >intent >result"}},
	{"keyed too late", "send|call of its like", "done", "first|after a retry", "says happened", 4, rowExpired,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, log: "intent expired result"}},
	{"keyed too late", "send|call of its like", "announced", "first|after a retry", "says nothing", 4, rowExpired,
		want{cut: "killed", resume: "uncertain", end: "uncertain", keys: 1, entered: 2, log: "intent expired"}},
	{"keyed too late", "send|call of its like", "stopped", "first|after a retry", "says nothing", 4, rowExpired,
		want{cut: "stopped", resume: "uncertain", end: "uncertain", keys: 1, entered: 2, log: "intent expired"}},
	{"keyed too late", "send|call of its like", "done", "first|after a retry", "says nothing", 4, rowExpired,
		want{cut: "killed", resume: "uncertain", end: "uncertain", reached: 1, keys: 1, entered: 2, log: "intent expired"}},

	// What must not be repeated, and a person.
	{"*", sends, "announced", "*", "says did not happen", 23, rowDoubt,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, log: "intent void >intent >result"}},
	{"*", sends, "announced", "*", "says so with another key", 23, rowNewKey,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 2, entered: 2, log: "intent void >intent >result"}},
	{"*", sends, "announced", "*", "says nothing", 23, rowDoubt,
		want{cut: "killed", resume: "uncertain", end: "uncertain", keys: 1, entered: 2, log: "intent"}},
	{"*", sends, "done", "*", "says happened", 23, rowDoubt,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, log: "intent result"}},
	{"*", sends, "done", "*", "says nothing", 23, rowDoubt,
		want{cut: "killed", resume: "uncertain", end: "uncertain", reached: 1, keys: 1, entered: 2, log: "intent"}},
	{"*", sends, "lost", "*", "says happened", 23, rowDoubt,
		want{cut: "uncertain", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, log: "intent evidence result"}},
	{"*", sends, "lost", "*", "says nothing", 23, rowDoubt,
		want{cut: "uncertain", resume: "uncertain", end: "uncertain", reached: 1, keys: 1, entered: 2, log: "intent evidence"}},

	// What must not be repeated, and a look-up. Where that cannot tell, a person says what happened.
	{"looked up", "send|call of its like", "done", "*", "happened", 6, rowHappened,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, looked: 1, log: "intent result"}},
	{"looked up", "send|call of its like", "lost", "*", "happened", 6, rowHappened,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, looked: 1, log: "intent evidence result"}},
	{"looked up", "send|call of its like", "announced", "*", "did not happen", 6, rowNotThere,
		want{cut: "killed", resume: "done", saw: "201", reached: 1, keys: 1, entered: 1, looked: 1, log: "intent void >intent >result"}},
	{"looked up", "send|call of its like", "announced", "*", "too early", 6, rowTooEarly,
		want{cut: "killed", resume: "waiting", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, looked: 2, log: "intent void >intent >result"}},
	{"looked up", "send|call of its like", "announced", "*", "cannot tell|fails", 12, rowNoVerdict,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, looked: 1, log: "intent void >intent >result"}},
	{"looked up", "send|call of its like", "done", "*", "cannot tell|fails", 12, rowNoVerdict,
		want{cut: "killed", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, looked: 1, log: "intent result"}},
	{"looked up", "send|call of its like", "lost", "*", "cannot tell|fails", 12, rowNoVerdict,
		want{cut: "uncertain", resume: "uncertain", end: "done", saw: "201", reached: 1, keys: 1, entered: 2, looked: 2, log: "intent evidence result"}},

	// Wait.
	{"*", "sleep", "announcing", "*", "*", 10, rowNothing, want{cut: "killed", resume: "waiting", end: "done", saw: "slept", entered: 2, log: "intent result"}},
	{"*", "sleep", "announced", "*", "*", 10, rowWaits, want{cut: "waiting", resume: "waiting", end: "done", saw: "slept", entered: 2, log: "intent result"}},
	{"*", "sleep", "done", "*", "*", 10, rowDue, want{cut: "killed", resume: "done", saw: "slept", entered: 1, log: "intent result"}},
	{"*", "sleep", "recorded", "*", "*", 10, rowOpenCall, want{cut: "killed", resume: "done", saw: "slept", entered: 1, log: "intent result"}},
	{"*", "approve", "announcing", "*", "yes", 10, rowNothing, want{cut: "killed", resume: "waiting", end: "done", saw: "agreed", entered: 2, log: "intent result"}},
	{"*", "approve", "announcing", "*", "no", 10, rowNothing, want{cut: "killed", resume: "waiting", end: "done", saw: "denied", entered: 2, log: "intent denied"}},
	{"*", "approve", "announcing", "*", "says nothing", 10, rowNothing, want{cut: "killed", resume: "waiting", end: "waiting", entered: 2, log: "intent"}},
	{"*", "approve", "announced|done", "*", "yes", 20, rowWaits, want{cut: "waiting", resume: "waiting", end: "done", saw: "agreed", entered: 2, log: "intent result"}},
	{"*", "approve", "announced|done", "*", "no", 20, rowWaits, want{cut: "waiting", resume: "waiting", end: "done", saw: "denied", entered: 2, log: "intent denied"}},
	{"*", "approve", "announced|done", "*", "says nothing", 20, rowWaits, want{cut: "waiting", resume: "waiting", end: "waiting", entered: 2, log: "intent"}},
	{"*", "approve", "recorded", "*", "yes", 10, rowAnswered, want{cut: "killed", resume: "done", saw: "agreed", entered: 1, log: "intent result"}},
	{"*", "approve", "recorded", "*", "no", 10, rowAnswered, want{cut: "killed", resume: "done", saw: "denied", entered: 1, log: "intent denied"}},

	// The call itself.
	{"*", "nothing but itself", "announcing", "*", "*", 13, rowNothing, want{cut: "killed", resume: "done", entered: 1, log: "intent result"}},
	{"*", "nothing but itself", "announced|done", "*", "*", 26, rowOpenCall, want{cut: "killed", resume: "done", entered: 1, log: "intent result"}},
	{"*", "nothing but itself", "recorded", "*", "*", 13, rowKnown, want{cut: "killed", resume: "done", log: "intent result"}},
	{"*", "nothing but itself", "failed", "first", "*", 7, rowRetry,
		want{cut: "waiting", resume: "failed", entered: 1, log: "intent failed >intent >failed"}},
	{"*", "nothing but itself", "failed", "after a retry", "*", 6, rowFinished, want{cut: "failed", resume: "failed", log: "intent failed"}},
}
