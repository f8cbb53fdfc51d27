package toolabi

// FuncApprove asks a person. Wait: the question is recorded, the run may be suspended, and the tool is entered again and
// gets the answer once a person gave it. A yes vouches for the text that was shown, and for nothing else that the tool
// does.
const FuncApprove = "approve"

// Caps of approve.
const (
	// MaxApproveText is how long the text of a question may be, in bytes.
	MaxApproveText = 4 << 10
	// MaxApproveDetail is how long what is shown beneath it may be, in bytes.
	MaxApproveDetail = 16 << 10
)

// DetailExpired is the Detail of Denied when nobody answered in time.
const DetailExpired = "expired"

// ApproveRequest is one question.
//
// Errors: Denied when a person said no, with who it was and the note in the message; Denied with DetailExpired when
// nobody had said yes in time; Invalid when a field is not as described here (nothing was asked).
type ApproveRequest struct {
	// Text is what the person is asked, 1 to MaxApproveText bytes, not blank. Control characters are not shown.
	Text string `cbor:"1,keyasint"`
	// Detail is JSON that is shown beneath the text, at most MaxApproveDetail bytes.
	Detail []byte `cbor:"2,keyasint,omitempty"`
	// ExpiresMS is how long a yes is accepted, in milliseconds from the question on, at most MaxManifestMS; 0 means for
	// ever.
	ExpiresMS uint64 `cbor:"3,keyasint,omitempty"`
}

// ApproveReply is a yes.
type ApproveReply struct {
	// By is who said it.
	By string `cbor:"1,keyasint"`
	// Note is what they had to say besides, at most MaxText bytes.
	Note string `cbor:"2,keyasint,omitempty"`
}
