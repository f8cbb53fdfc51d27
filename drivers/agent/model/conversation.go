package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// asked is a call of an answer that goes back.
type asked struct {
	id   string // as Read says it
	sent string // as the request says it: providers want each call to have a name of its own, and it to be well-formed
}

// speaker writes the parts of a conversation in a protocol's form. Each method appends whole messages and commas between them.
type speaker interface {
	user(out []byte, text string) []byte
	// answer returns the calls that it wrote, which is none where it leaves the message out.
	answer(out []byte, a Answer) ([]byte, []asked, error)
	// results writes one result for each call; nil says that there is none.
	results(out []byte, calls []asked, results []*Result) []byte
}

// appendMessages writes a conversation as the elements of an array.
//
// Providers want exactly one result for each call, so a call without one is told that there is none: what was not done after an
// answer that was cut short has none. Results belong to the calls of the same id in their order, so that two calls with one id
// have one result each.
func appendMessages(out []byte, messages []Message, s speaker) ([]byte, error) {
	if err := checkMessages(messages); err != nil {
		return nil, err
	}
	var open []asked
	for i, m := range messages {
		if len(open) > 0 {
			results, err := match(open, m.Results)
			if err != nil {
				return nil, fmt.Errorf("message %d: %w", i+1, err)
			}
			out, open = s.results(out, open, results), nil
		} else if len(m.Results) > 0 {
			return nil, fmt.Errorf("message %d: results, and no calls before it", i+1)
		}
		var err error
		switch {
		case m.Answer != nil:
			if out, open, err = s.answer(out, *m.Answer); err != nil {
				return nil, fmt.Errorf("message %d: %w", i+1, err)
			}
		case m.User != "":
			out = s.user(out, m.User)
		}
	}
	return out, nil
}

// checkMessages holds a conversation against the contract of Request.
func checkMessages(messages []Message) error {
	for i, m := range messages {
		set := 0
		for _, is := range []bool{m.User != "", m.Answer != nil, len(m.Results) > 0} {
			if is {
				set++
			}
		}
		if set != 1 {
			return fmt.Errorf("message %d has %d of a user's text, an answer and results, and needs one", i+1, set)
		}
	}
	switch {
	case len(messages) == 0:
		return errors.New("no messages")
	case messages[0].User == "":
		return errors.New("the conversation does not begin with the user")
	case messages[len(messages)-1].Answer != nil:
		return errors.New("the conversation ends with an answer")
	}
	return nil
}

// match finds the result of each call.
func match(calls []asked, results []Result) ([]*Result, error) {
	found := make([]*Result, len(calls))
	next := 0
	for i := range results {
		at := next // results come in the order of the calls, so it is nearly always this one
		if at >= len(calls) || found[at] != nil || calls[at].id != results[i].Call {
			at = 0
			for at < len(calls) && (found[at] != nil || calls[at].id != results[i].Call) {
				at++
			}
		}
		if at == len(calls) {
			return nil, fmt.Errorf("a result of %.80q, and no such call before it", results[i].Call)
		}
		found[at], next = &results[i], at+1
	}
	return found, nil
}

// noResult is what a model is told of a call that nothing came of.
var noResult = Result{Text: "There is no result: the call was not made.", Failed: true}

// appendComma separates what follows from the element before it.
func appendComma(out []byte) []byte {
	if len(out) > 0 && out[len(out)-1] != '[' {
		out = append(out, ',')
	}
	return out
}

// callNames gives the calls of a conversation names that differ.
type callNames struct {
	first string // the first one, which is mostly the only one
	used  map[string]bool
	next  map[string]int // the number that is tried next behind a name
}

// name returns what a call with this id is called in the request: its id where no call before it has it and fits agrees, else one
// made from it, which depends on what came before alone.
func (c *callNames) name(id string, fits func(string) bool) string {
	name := id
	if id == "" || !fits(id) {
		name = cleanName(id, "call", 40)
	}
	switch {
	case c.first == "":
		c.first = name
		return name
	case c.used == nil:
		c.used = map[string]bool{c.first: true}
	}
	if c.used[name] {
		name = c.another(cleanName(name, "call", 32))
	}
	c.used[name] = true
	return name
}

func (c *callNames) another(base string) string {
	if c.next == nil {
		c.next = map[string]int{}
	}
	for n := max(c.next[base], 2); ; n++ {
		if name := base + "_" + strconv.Itoa(n); !c.used[name] {
			c.next[base] = n + 1
			return name
		}
	}
}

// cleanName returns name with letters, digits, _ and - alone and at most max bytes long; otherwise where nothing is left.
func cleanName(name, otherwise string, max int) string {
	if name == "" {
		return otherwise
	}
	if len(name) <= max && isName(name) {
		return name
	}
	b := []byte(name[:min(len(name), max)])
	for i, c := range b {
		if !isNameByte(c) {
			b[i] = '_'
		}
	}
	return string(b)
}

func isName[S string | []byte](s S) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// maxToolName is how long the name of a tool may be, in bytes.
const maxToolName = 64

// checkRequest holds the rest of a request against its contract.
func checkRequest(r Request) error {
	switch {
	case r.Model == "":
		return errors.New("no model is named")
	case r.MaxTokens < 0:
		return errors.New("a negative number of tokens")
	case r.Temperature != "" && !isNumber(r.Temperature):
		return errors.New("the temperature is no number")
	}
	seen := make(map[string]bool, len(r.Tools))
	for _, t := range r.Tools {
		switch {
		case t.Name == "" || len(t.Name) > maxToolName || !isName(t.Name):
			return fmt.Errorf("the tool name %.80q is not of letters, digits, _ and -, at most %d", t.Name, maxToolName)
		case seen[t.Name]:
			return fmt.Errorf("two tools named %s", t.Name)
		case t.Input != nil && !valid(t.Input):
			return fmt.Errorf("the schema of tool %s is no JSON", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func isNumber(n json.Number) bool {
	return valid([]byte(n)) && (n[0] == '-' || n[0] >= '0' && n[0] <= '9')
}

// appendSchema appends the schema of a tool's input. Providers want it to say that it is an object: where it does not say what it
// is, that is put into it.
func appendSchema(out []byte, schema json.RawMessage) []byte {
	const anything = `{"type":"object"}`
	v := object(schema)
	switch {
	case v == nil && schema != nil && string(schema) != "true":
		return append(out, mendText(schema)...) // for the provider to refuse
	case v == nil:
		return append(out, anything...)
	case member(v, "type") != nil:
		return append(out, mendText(v)...)
	}
	rest := v[skipSpace(v, 1):]
	if rest[0] == '}' {
		return append(out, anything...)
	}
	out = append(out, `{"type":"object",`...)
	return append(out, mendText(rest)...)
}
