package toolabi

// FuncRandom draws random bytes from the host. Read: the answer is recorded, so a tool that is entered again gets the
// same bytes. Fit for names and keys, unlike what a guest seeds while it starts.
const FuncRandom = "random"

// MaxRandom is the most that one request may draw, in bytes.
const MaxRandom = 4096

// RandomRequest asks for bytes. Errors: Invalid when N is 0, TooLarge when it is over MaxRandom.
type RandomRequest struct {
	// N is how many bytes.
	N uint32 `cbor:"1,keyasint"`
}

// RandomReply is the answer.
type RandomReply struct {
	// Bytes are N bytes from the operating system's generator.
	Bytes []byte `cbor:"1,keyasint"`
}
