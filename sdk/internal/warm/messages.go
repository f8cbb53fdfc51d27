package warm

import (
	"reflect"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// messages are the request and the reply of each host function that does not wait, in the order of toolabi.Functions. Nobody
// reads a reply that is nil.
var messages = []struct {
	function       string
	request, reply any
}{
	{toolabi.FuncLog, (*toolabi.LogRequest)(nil), nil},
	{toolabi.FuncProgress, (*toolabi.ProgressRequest)(nil), nil},
	{toolabi.FuncClock, (*toolabi.ClockRequest)(nil), (*toolabi.ClockReply)(nil)},
	{toolabi.FuncRandom, (*toolabi.RandomRequest)(nil), (*toolabi.RandomReply)(nil)},
	{toolabi.FuncHTTPFetch, (*toolabi.HTTPRequest)(nil), (*toolabi.HTTPReply)(nil)},
	{toolabi.FuncHTTPSend, (*toolabi.HTTPRequest)(nil), (*toolabi.HTTPReply)(nil)},
	{toolabi.FuncToolCall, (*toolabi.ToolCallRequest)(nil), (*toolabi.ToolCallReply)(nil)},
	{toolabi.FuncSecretHas, (*toolabi.SecretHasRequest)(nil), (*toolabi.SecretHasReply)(nil)},
	{toolabi.FuncConfigGet, (*toolabi.ConfigGetRequest)(nil), (*toolabi.ConfigGetReply)(nil)},
	{toolabi.FuncKVGet, (*toolabi.KVGetRequest)(nil), (*toolabi.KVGetReply)(nil)},
	{toolabi.FuncKVPut, (*toolabi.KVPutRequest)(nil), (*toolabi.KVPutReply)(nil)},
	{toolabi.FuncKVCAS, (*toolabi.KVCASRequest)(nil), (*toolabi.KVPutReply)(nil)},
	{toolabi.FuncKVDelete, (*toolabi.KVDeleteRequest)(nil), (*toolabi.KVDeleteReply)(nil)},
	{toolabi.FuncKVList, (*toolabi.KVListRequest)(nil), (*toolabi.KVListReply)(nil)},
	{toolabi.FuncArtifactPut, (*toolabi.ArtifactPutRequest)(nil), (*toolabi.ArtifactPutReply)(nil)},
	{toolabi.FuncArtifactGet, (*toolabi.ArtifactGetRequest)(nil), (*toolabi.ArtifactGetReply)(nil)},
	{toolabi.FuncArtifactStat, (*toolabi.ArtifactStatRequest)(nil), (*toolabi.ArtifactStatReply)(nil)},
	{toolabi.FuncWorkspaceRead, (*toolabi.WorkspaceReadRequest)(nil), (*toolabi.WorkspaceReadReply)(nil)},
	{toolabi.FuncWorkspaceWrite, (*toolabi.WorkspaceWriteRequest)(nil), (*toolabi.WorkspaceWriteReply)(nil)},
	{toolabi.FuncWorkspaceList, (*toolabi.WorkspaceListRequest)(nil), (*toolabi.WorkspaceListReply)(nil)},
	{toolabi.FuncWorkspaceRemove, (*toolabi.WorkspaceRemoveRequest)(nil), (*toolabi.WorkspaceRemoveReply)(nil)},
	{toolabi.FuncMailSend, (*toolabi.MailSendRequest)(nil), (*toolabi.MailSendReply)(nil)},
}

// Module prepares for the host functions that a module asks for, and for those that no module has to ask for, and makes the
// stack of this goroutine so large that few calls have to move it.
func (w *Work) Module(m *toolabi.Manifest) {
	_ = deep(stackFrames)
	for _, message := range messages {
		f, _ := toolabi.FunctionByName(message.function)
		if f.Capability && !slices.ContainsFunc(m.Capabilities, func(c toolabi.Capability) bool { return c.Name == f.Name }) {
			continue
		}
		w.message(message.request, false)
		if message.reply != nil {
			w.message(message.reply, true)
		}
	}
}

// message prepares for a message that is written, or read. It is given as a nil pointer to its type.
func (w *Work) message(pointer any, read bool) {
	t := reflect.TypeOf(pointer).Elem()
	if slices.Contains(w.messages, t) || w.Values <= 0 {
		return
	}
	w.messages = append(w.messages, t)
	if b, err := toolabi.Encode(w.sample(t).Interface()); err == nil && read {
		_ = toolabi.Decode(b, reflect.New(t).Interface())
	}
}

// stackFrames is how many calls of deep are in each other: 16 KiB, and so a stack of 32.
const stackFrames = 16

//go:noinline
func deep(n int) byte {
	var frame [1 << 10]byte
	frame[n] = 1
	if n > 0 {
		frame[0] = deep(n - 1)
	}
	return frame[n/2]
}
