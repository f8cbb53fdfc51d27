package toolabi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// LookupInput is what the look-up tool of a tool gets as its input: a call was cut off in a host function that must not
// be repeated, and nobody knows what became of it.
type LookupInput struct {
	// Tool is the name of the tool that was cut off.
	Tool string `json:"tool" doc:"the tool that was cut off"`
	// Input is the input of its call.
	Input RawJSON `json:"input" doc:"the input of its call"`
	// Function is the host function, such as http_send.
	Function string `json:"function" doc:"the host function in which it was cut off"`
	// Request is what the function was asked, in the form that docs/abi.md gives for it.
	Request RawJSON `json:"request" doc:"what the function was asked"`
	// Key is the idempotency key that the request carries.
	Key string `json:"key" doc:"the idempotency key of the request"`
	// Announced is when the request was announced, in RFC 3339 with nanoseconds: it was not sent before.
	Announced string `json:"announced" doc:"when the request was announced, RFC 3339; it was not sent before"`
}

// The verdicts of a look-up.
const (
	// VerdictHappened: the effect took place, and LookupOutput has the reply.
	VerdictHappened = "happened"
	// VerdictDidNotHappen: the effect is not there. It counts once nothing can be on its way any more.
	VerdictDidNotHappen = "did_not_happen"
	// VerdictUnknown: it cannot be told now.
	VerdictUnknown = "unknown"
)

// LookupOutput is what the look-up tool of a tool returns.
type LookupOutput struct {
	// Verdict is one of the three words.
	Verdict string `json:"verdict" enum:"happened,did_not_happen,unknown"`
	// Reply is what the function would have answered, with VerdictHappened and only then; in the form that a person gives
	// to wrun resolve --happened.
	Reply RawJSON `json:"reply,omitempty" doc:"with happened: what the function would have answered"`
	// Note is for people, and recorded; cut at MaxText bytes.
	Note string `json:"note,omitempty" doc:"for people"`
}

// ParseLookupOutput reads what a look-up returned. It refuses what could be meant otherwise than it reads: unknown and
// duplicate keys, another verdict, happened without a reply and a reply without happened. A reply that is null is none.
func ParseLookupOutput(text []byte) (LookupOutput, error) {
	out, err := parseLookupOutput(text)
	if err != nil {
		return LookupOutput{}, fmt.Errorf("read the look-up's output: %w", err)
	}
	return out, nil
}

func parseLookupOutput(text []byte) (out LookupOutput, err error) {
	var fields map[string]json.RawMessage
	if err := StrictJSON(text); err != nil {
		return out, err
	}
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return out, errors.New("it is no JSON object")
	}
	for name := range fields {
		if !slices.Contains([]string{"verdict", "reply", "note"}, name) { // to the letter, unlike what follows
			return out, fmt.Errorf("unknown field %.80q", name)
		}
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, err
	}
	if string(out.Reply) == "null" {
		out.Reply = nil
	}
	switch out.Verdict {
	case VerdictHappened:
		if len(out.Reply) == 0 {
			return out, errors.New("it happened, and there is no reply")
		}
	case VerdictDidNotHappen, VerdictUnknown:
		if len(out.Reply) > 0 {
			return out, fmt.Errorf("there is a reply, and the verdict is %s", out.Verdict)
		}
	default:
		return out, fmt.Errorf("verdict %.80q, want %s, %s or %s", out.Verdict, VerdictHappened, VerdictDidNotHappen, VerdictUnknown)
	}
	out.Note = CutText(out.Note, MaxText)
	return out, nil
}
