package toolabi

import "encoding/json"

// CompensateInput is what the compensating tool of a tool gets as its input: one call, and what it did to the world.
type CompensateInput struct {
	// Run and Step name the call.
	Run  string `json:"run" doc:"the run of the call that is undone"`
	Step string `json:"step" doc:"the step of the call that is undone"`
	// Tool is the name of the tool that was called.
	Tool string `json:"tool" doc:"the tool that was called"`
	// Input is what it was called with.
	Input RawJSON `json:"input" doc:"the input of the call"`
	// Output is what it returned; null when it failed after it had effects.
	Output RawJSON `json:"output" doc:"its output; null when it failed after it had effects"`
	// Effects are what it did, in the order in which it did it; an empty list is written as [].
	Effects []CompensateEffect `json:"effects" doc:"what it did, in order"`
}

// CompensateEffect is one effect of a call.
type CompensateEffect struct {
	// Step names it.
	Step string `json:"step" doc:"the step of the effect"`
	// Function is the host function, such as http_send.
	Function string `json:"function" doc:"the host function"`
	// Request is what the function was asked, and Reply what it answered, both in the form that docs/abi.md gives for it;
	// Reply is null when there is none.
	Request RawJSON `json:"request" doc:"what the function was asked"`
	Reply   RawJSON `json:"reply" doc:"what it answered; null when it failed"`
	// Key is the idempotency key that the request carried.
	Key string `json:"key" doc:"the idempotency key of the request"`
}

// MarshalJSON writes no effects as an empty list, because null would not match the schema of a tool's input.
func (c CompensateInput) MarshalJSON() ([]byte, error) {
	type fields CompensateInput
	if c.Effects == nil {
		c.Effects = []CompensateEffect{}
	}
	return json.Marshal(fields(c))
}
