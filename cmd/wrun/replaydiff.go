package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// maxDiffed is how much of a request or a result is compared line by line, in bytes.
const maxDiffed = 64 << 10

// replayDiff shows how a call differs, as a unified diff; "" for one that does not.
func replayDiff(h *wrun.Host, res runtime.Replayed) string {
	var b strings.Builder
	was, now := requestText(h, res.Was), requestText(h, res.Now)
	if name := fmt.Sprintf("%s/%d", res.Step, res.At); res.Verdict.Differs() && res.At > 0 && res.Verdict != runtime.ReplayRefused {
		b.WriteString(unified(name, was, now))
	}
	if res.Verdict == runtime.ReplayResult || res.Verdict == runtime.ReplayLess && res.Came != nil && res.Result != nil {
		b.WriteString(unified("result of "+string(res.Step), resultText(res.Result), resultText(res.Came)))
	}
	return b.String()
}

// unified is what was recorded and what a replay came to, as a unified diff.
func unified(name, was, now string) string {
	return unifiedFrom(name, "recorded", "replayed", was, now)
}

// unifiedFrom is the difference of two texts of one name and two origins. That they show the same is said.
func unifiedFrom(name, from, to, was, now string) string {
	from, to = name+", "+toolabi.CleanLine(from, 100), name+", "+toolabi.CleanLine(to, 100)
	switch {
	case was == now && was == "":
		return ""
	case was == now:
		return fmt.Sprintf("--- %s\n+++ %s\n(what is shown of them is the same, and their bytes differ)\n", from, to)
	}
	d := string(diff.Diff(from, []byte(was), to, []byte(now)))
	if first, rest, ok := strings.Cut(d, "\n"); ok && strings.HasPrefix(first, "diff ") { // a line for programs that take many files
		d = rest
	}
	return toolabi.CleanText(d, len(d))
}

// requestText is a request for people, on lines of its own; "" for none.
func requestText(h *wrun.Host, r *runtime.ReplayedRequest) string {
	if r == nil {
		return ""
	}
	text := r.Name + "\n"
	if r.Request == nil {
		return text + fmt.Sprintf("(the log holds only its digest, %s)\n", r.Digest.Short())
	}
	return text + indented(requestJSON(h, r))
}

// requestJSON is a request as JSON: that of its function, the fields of its message, or whatever it is.
func requestJSON(h *wrun.Host, r *runtime.ReplayedRequest) []byte {
	if r.Called {
		return r.Request
	}
	if shown, ok := h.ShowRequest(r.Name, r.Request); ok {
		return shown
	}
	if shown, ok := fieldsOf(r.Name, r.Request); ok {
		return shown
	}
	b, err := json.Marshal(shown(r.Request))
	if err != nil {
		return nil
	}
	return b
}

// replyJSON is a reply as JSON: an output, or what a host function answered.
func replyJSON(h *wrun.Host, e journal.Entry, reply []byte) []byte {
	if json.Valid(reply) {
		return reply
	}
	if shown, ok := h.ShowReply(e.Name, reply); ok {
		return shown
	}
	b, err := json.Marshal(shown(reply))
	if err != nil {
		return nil
	}
	return b
}

// resultText is how a call ended, for people.
func resultText(r *runtime.ReplayedResult) string {
	switch {
	case r == nil:
		return ""
	case r.Err != nil:
		b, err := json.Marshal(map[string]any{"error": errorLine(r.Err)})
		if err != nil {
			return r.Err.Error() + "\n"
		}
		return indented(b)
	}
	return indented(r.Output)
}

// indented is JSON on lines of its own, as a terminal can show it; no more than can be compared.
func indented(doc []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		b.Reset()
		b.Write(doc)
	}
	text := string(visible(b.Bytes()))
	if len(text) > maxDiffed {
		text = toolabi.CutText(text, maxDiffed) + fmt.Sprintf("\n(of %d bytes)", len(text))
	}
	return strings.TrimRight(text, "\n") + "\n"
}
