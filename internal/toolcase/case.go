package toolcase

import (
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// Format is the number of the format.
const Format = 1

// File is a file of cases.
type File struct {
	// Grants are those of all its cases; nil where the manifests determine them.
	Grants *Grants
	// World is shared by the cases; nil for none.
	World *world.World
	Cases []*Case
}

// Case is one call.
type Case struct {
	// Name is unique in the file, Line where it is written.
	Name string
	Line int
	// Tool is the tool's name in its module, Input the JSON that it is called with.
	Tool  string
	Input any
	// Grants take the place of the file's; nil for those.
	Grants *Grants
	// World has what the case writes down itself; nil for nothing.
	World  *world.World
	Expect Expect
}

// Grants are what a case grants: the words as they were written, and what they mean. Sources of secrets and the path of the workspace
// are not the world's: whoever runs the case puts its own in their place.
type Grants struct {
	Words []string
	hostfuncs.Grants
}

// Expect is what should come of a case. Either Output, Where, Error or Uncertain says how the call ends; where none does it has to
// succeed.
type Expect struct {
	// Output is the JSON that comes out, to the last value; HasOutput says that it was written down.
	Output    any
	HasOutput bool
	// Where are conditions on the output.
	Where []*world.Cond
	// Error is how the call fails, Uncertain that nobody knows whether its effect took place.
	Error     *Error
	Uncertain bool
	// Acted is how often routes did something.
	Acted map[string]int
	// KV and Files are what is there afterwards; nil for what is not.
	KV    map[string]map[string]*world.Body
	Files map[string]*string
	// Mail are the messages that were taken over, in order; HasMail says that they were written down.
	Mail    []Mail
	HasMail bool
	// Logs are parts of lines that the tool says.
	Logs []string
}

// Error is a part of an error.
type Error struct {
	// Code is its code, 0 for any. Message is a part of its message.
	Code    toolabi.Code
	Message string
}

// Mail is what is said of a message; nil fields say nothing.
type Mail struct {
	To                  []string
	Subject, Text, HTML *string
}

// Of is the world of a case.
func (f *File) Of(c *Case) *world.World { return world.Merge(f.World, c.World) }

// GrantsOf are what a case grants; nil for what the manifest asks for.
func (f *File) GrantsOf(c *Case) *Grants {
	if c.Grants != nil {
		return c.Grants
	}
	return f.Grants
}
