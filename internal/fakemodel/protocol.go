package fakemodel

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// protocol is how a provider talks.
type protocol interface {
	// name is what a bill says.
	name() string
	// read takes a request apart. The answers in it become those of a script.
	read(header headers, body []byte) (asked, error)
	// whole is the body of an answer, pieces are the events of one that is streamed.
	whole(answered) ([]byte, error)
	pieces(answered) ([][]byte, error)
	// overloaded is the status of a provider that has too much to do.
	overloaded() int
	// problem is the body of a refusal.
	problem(status int, message string) any
}

// headers are those of a request, as http.Header has them.
type headers interface{ Get(name string) string }

// asked is what a request asks for.
type asked struct {
	model.Request
	// stream wants the answer in pieces, and usage the usage as one of them.
	stream, usage bool
}

// answered is what is answered.
type answered struct {
	asked
	script.Reply
	bill int
}

// checkConversation refuses what providers refuse: calls without results, results without calls.
func checkConversation(messages []model.Message, calls [][]model.Call) error {
	if len(messages) == 0 {
		return errors.New("messages: there are none")
	}
	var open []model.Call
	for i, m := range messages {
		if m.Results == nil {
			if len(open) > 0 {
				return fmt.Errorf("messages: the calls of the answer before have no results: %.100q", open[0].ID)
			}
			open = calls[i]
			continue
		}
		if err := checkResults(open, m.Results); err != nil {
			return err
		}
		open = nil
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: the call %.100q has no result", open[0].ID)
	}
	return nil
}

// checkResults holds results against calls, and notes which tool each is of. Calls of the same id get theirs in order.
func checkResults(open []model.Call, results []model.Result) error {
	open = slices.Clone(open)
	for i := range results {
		at := slices.IndexFunc(open, func(c model.Call) bool { return c.ID == results[i].Call })
		if at < 0 {
			return fmt.Errorf("messages: the result of %.100q is of no call of the answer before", results[i].Call)
		}
		results[i].Tool = open[at].Tool
		open = slices.Delete(open, at, at+1)
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: the call %.100q has no result", open[0].ID)
	}
	return nil
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkTools refuses names that no model may be told.
func checkTools(tools []model.Tool) error {
	seen := map[string]bool{}
	for _, t := range tools {
		if !toolName.MatchString(t.Name) {
			return fmt.Errorf("tools: the name %.100q does not match %s", t.Name, toolName)
		}
		if seen[t.Name] {
			return fmt.Errorf("tools: the name %q is there twice", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// answerOf is an earlier answer as a script reads it.
func answerOf(text string, calls []model.Call) (model.Message, error) {
	message, err := script.Message(text, calls)
	if err != nil {
		return model.Message{}, err
	}
	return model.Message{Answer: &model.Answer{Protocol: script.Protocol, Message: message}}, nil
}

// split takes a text apart into pieces of about the same size, at least so many where the text has as many characters, and
// none of more than 4 KiB. What is UTF-8 stays whole.
func split(s string, least int) []string {
	size := min(max(1, len(s)/least), 4<<10)
	var pieces []string
	for len(s) > size {
		end := size
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		pieces = append(pieces, s[:end])
		s = s[end:]
	}
	if s != "" {
		pieces = append(pieces, s)
	}
	return pieces
}

// joinTexts is the text of a message that is given in parts.
func joinTexts(parts []string) string { return strings.Join(parts, "\n") }
