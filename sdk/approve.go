package sdk

import "github.com/wrun-dev/wrun/toolabi"

// Approve asks a person and returns once one said yes. That may take days: the run is suspended and the tool entered
// again when the answer is there, and gets the recorded one from then on. What a person agrees to is the text, so that it
// should say what the tool will do, with every amount and name.
//
// Errors are those of toolabi.ApproveRequest: a no is toolabi.Denied. A tool that declares itself Pure or ReadOnly is
// denied too.
func Approve(req toolabi.ApproveRequest) (toolabi.ApproveReply, error) {
	var reply toolabi.ApproveReply
	err := use(crossApprove, req, &reply)
	return reply, err
}
