package policy

import "fmt"

// Verdict is what becomes of a call.
type Verdict int

// The verdicts. Deny is the zero value.
const (
	// Deny means that the call does not begin.
	Deny Verdict = iota
	// Ask means that it waits for a person.
	Ask
	// Allow means that it begins at once.
	Allow
)

var verdicts = []string{Deny: "deny", Ask: "ask", Allow: "allow"}

// String returns the word that stands for it in a policy.
func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdicts) {
		return fmt.Sprintf("Verdict(%d)", int(v))
	}
	return verdicts[v]
}
