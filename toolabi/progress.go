package toolabi

// FuncProgress tells a person how far a tool has come. Free: it is not recorded, and the guest learns nothing from it.
const FuncProgress = "progress"

// ProgressRequest is one report. Errors: Invalid when the text is not UTF-8; RateLimited after MaxSaid reports in one call.
type ProgressRequest struct {
	// Done is how much is done, in units of the tool's choice.
	Done uint64 `cbor:"1,keyasint,omitempty"`
	// Total is how much there is to do in the same unit; 0 when that is not known.
	Total uint64 `cbor:"2,keyasint,omitempty"`
	// Message is what is being done, at most MaxText bytes; what is longer is cut.
	Message string `cbor:"3,keyasint,omitempty"`
}

// ProgressReply is empty.
type ProgressReply struct{}
