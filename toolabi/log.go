package toolabi

// FuncLog writes a line to the host's log. Free: it is not recorded, and the guest learns nothing from it.
const FuncLog = "log"

// The levels of a log line.
const (
	LevelDebug uint8 = 1
	LevelInfo  uint8 = 2
	LevelWarn  uint8 = 3
	LevelError uint8 = 4
)

// LogRequest is one line. Errors: Invalid when the level is not one of the four or the text is not UTF-8; RateLimited after
// MaxSaid lines in one call.
type LogRequest struct {
	// Level is one of the Level constants; 0 means LevelInfo.
	Level uint8 `cbor:"1,keyasint,omitempty"`
	// Message is the text, at most MaxText bytes; what is longer is cut. Control characters are removed by the host.
	Message string `cbor:"2,keyasint"`
}

// LogReply is empty.
type LogReply struct{}
