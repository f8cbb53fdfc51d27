package sdk

import "github.com/wrun-dev/wrun/toolabi"

// MailSend hands a message to the operator's mail server. The module must Need toolabi.FuncMailSend. What follows a crash between
// the message and the recorded answer of the server is as for HTTPSend.
//
// Errors are those of toolabi.MailSendRequest, and toolabi.Denied in a tool that declares itself Pure or ReadOnly. Where a
// NonIdempotent tool's message may have been taken over and no answer came, this function does not return.
func MailSend(req toolabi.MailSendRequest) (toolabi.MailSendReply, error) {
	var reply toolabi.MailSendReply
	err := use(crossMailSend, req, &reply)
	return reply, err
}
