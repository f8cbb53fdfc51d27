package sdktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// World is what a tool finds outside. The zero value takes log lines and progress and has nothing else: every other use
// of a host function fails the test. A World may serve several calls, one after the other.
type World struct {
	// HTTP answers http_fetch and http_send. Its requests carry the absolute URL, and those of http_send the header
	// Idempotency-Key as the host sets it, another one for each request.
	HTTP http.Handler
	// Exchange answers http_fetch and http_send in place of HTTP. name is the function's; the error is what the tool
	// gets, so that a test can let a request be denied or time out. Nothing is filled in, decompressed or followed for it.
	Exchange func(name string, req toolabi.HTTPRequest) (toolabi.HTTPReply, error)
	// Clock answers clock, and lets a tool sleep: a sleep returns at once, and the clock shows that much more from then on.
	Clock func() time.Time
	// Random answers random with n bytes.
	Random func(n int) []byte
	// Approve answers approve: with a yes, or with an error such as toolabi.NewError(toolabi.Denied, "mia: too much").
	Approve func(req toolabi.ApproveRequest) (toolabi.ApproveReply, error)
	// Tools are the other tools of the run by their full names, which take and return JSON; an error is what the caller
	// gets. A tool that is not among them is not found. Nothing is held against a schema.
	Tools map[string]func(input []byte) (output []byte, err error)
	// Files are the files of the workspace, by their paths. nil means that there is none; an empty one is not nil.
	Files map[string][]byte
	// Config are the values that are set for the module. nil means that config_get fails the test; an empty one is not nil.
	Config map[string]string
	// Secrets are those that are granted, with their values, which requests of http_fetch and http_send may refer to at every
	// server. HTTP gets the values, the tool never does. nil means that secret_has fails the test; an empty one is not nil.
	Secrets map[string]string
	// Mail answers mail_send: with the id that the message is given, or with an error that the tool gets.
	Mail func(req toolabi.MailSendRequest) (toolabi.MailSendReply, error)
	// KV are the stores that are granted, by name, with their keys; the one called as the module is its own. The tool finds
	// and changes what is in them. Another store is denied. What the test changes between two calls is a write like others: it
	// has another version.
	KV map[string]map[string][]byte
	// Artifacts are those of the run, by digest, beside the versions of its Files. nil has none and can keep none; an empty map can.
	Artifacts map[string][]byte
	// ArtifactQuota is how many bytes of artifacts are granted; 0 means toolabi.MaxArtifact.
	ArtifactQuota uint64

	// Logs are the lines that were logged, in order, with the level filled in.
	Logs []toolabi.LogRequest
	// Reports are the reports of progress, in order.
	Reports []toolabi.ProgressRequest
	// Requests are those of http_fetch and http_send that were allowed, in order, as the tool made them: one for all hops of a
	// redirect, and without the values of secrets.
	Requests []toolabi.HTTPRequest
	// Questions are those of approve that were put, in order.
	Questions []toolabi.ApproveRequest
	// Sleeps are how long the tool slept, in order; 0 for a time that had passed.
	Sleeps []time.Duration
	// Calls are those of tool_call that named a tool it may call, in order.
	Calls []toolabi.ToolCallRequest
	// Mails are the messages of mail_send that were allowed, in order.
	Mails []toolabi.MailSendRequest
	// Puts are the keys that kv_put and kv_cas set, in order, with the store filled in.
	Puts []toolabi.KVPutRequest
	// Removed are the requests of kv_delete that removed something, in order.
	Removed []toolabi.KVDeleteRequest
	// Kept are the requests of artifact_put that kept something, in order.
	Kept []toolabi.ArtifactPutRequest

	sends int           // how many keys were given out
	slept time.Duration // how far the clock has moved by sleeping

	dirs     map[string]bool     // the directories of the workspace
	written  map[string][]byte   // of files that were written, by their digests
	versions map[[2]string]kvKey // of keys as they were looked at last, by store and key
}

// stage is a World during one call.
type stage struct {
	*World
	t      testing.TB
	ctx    context.Context
	module *toolabi.Manifest
	tool   toolabi.Tool
}

// answer is the host of the call. The sdk lets one use follow the other, so that it is never entered twice at once.
func (s *stage) answer(name string, request []byte) ([]byte, *toolabi.Error) {
	f, ok := toolabi.FunctionByName(name)
	if !ok {
		return nil, toolabi.NewError(toolabi.Unsupported, name+" is no host function")
	}
	if !s.tool.Declared().Allows(f.Class) {
		return nil, toolabi.NewError(toolabi.Denied, fmt.Sprintf("tool %s declares %s and may not use %s", s.tool.Name, s.tool.Declared(), name))
	}
	if f.Capability && !s.asked(name) {
		s.t.Errorf("tool %s uses %s, which its module does not Need", s.tool.Name, name)
		return nil, toolabi.NewError(toolabi.Denied, "module does not ask for "+name)
	}
	return s.serve(name, request)
}

func (s *stage) asked(name string) bool {
	return slices.ContainsFunc(s.module.Capabilities, func(c toolabi.Capability) bool { return c.Name == name })
}

func (s *stage) serve(name string, request []byte) ([]byte, *toolabi.Error) {
	switch name {
	case toolabi.FuncLog:
		return handle(request, s.log)
	case toolabi.FuncProgress:
		return handle(request, s.progress)
	case toolabi.FuncClock:
		if s.Clock != nil {
			return handle(request, s.clock)
		}
	case toolabi.FuncRandom:
		if s.Random != nil {
			return handle(request, s.random)
		}
	case toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend:
		if s.HTTP != nil || s.Exchange != nil {
			return handle(request, func(req toolabi.HTTPRequest) (toolabi.HTTPReply, error) { return s.http(name, req) })
		}
	case toolabi.FuncApprove:
		if s.Approve != nil {
			return handle(request, s.approve)
		}
	case toolabi.FuncSleep:
		if s.Clock != nil {
			return handle(request, s.sleep)
		}
	case toolabi.FuncToolCall:
		if s.Tools != nil {
			return handle(request, s.toolCall)
		}
	case toolabi.FuncWorkspaceRead, toolabi.FuncWorkspaceWrite, toolabi.FuncWorkspaceList, toolabi.FuncWorkspaceRemove:
		if s.Files != nil {
			return s.files(name, request)
		}
	case toolabi.FuncConfigGet:
		if s.Config != nil {
			return handle(request, s.configGet)
		}
	case toolabi.FuncSecretHas:
		if s.Secrets != nil {
			return handle(request, s.secretHas)
		}
	case toolabi.FuncMailSend:
		if s.Mail != nil {
			return handle(request, s.mail)
		}
	default:
		if serve := s.stored(name); serve != nil {
			return serve(request)
		}
	}
	s.t.Errorf("tool %s uses %s, which the test's world does not have", s.tool.Name, name)
	return nil, toolabi.NewError(toolabi.Unsupported, "the test's world has no "+name)
}

// stored are the functions of stores and artifacts, nil where the World has none.
func (s *stage) stored(name string) func(request []byte) ([]byte, *toolabi.Error) {
	serves := map[string]func([]byte) ([]byte, *toolabi.Error){}
	if s.KV != nil {
		serves[toolabi.FuncKVGet] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.kvGet) }
		serves[toolabi.FuncKVPut] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.kvPut) }
		serves[toolabi.FuncKVCAS] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.kvCAS) }
		serves[toolabi.FuncKVDelete] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.kvDelete) }
		serves[toolabi.FuncKVList] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.kvList) }
	}
	if s.Artifacts != nil {
		serves[toolabi.FuncArtifactPut] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.artifactPut) }
		serves[toolabi.FuncArtifactGet] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.artifactGet) }
		serves[toolabi.FuncArtifactStat] = func(b []byte) ([]byte, *toolabi.Error) { return handle(b, s.artifactStat) }
	}
	return serves[name]
}

func (s *stage) log(req toolabi.LogRequest) (toolabi.LogReply, error) {
	if req.Level == 0 {
		req.Level = toolabi.LevelInfo
	}
	if req.Level > toolabi.LevelError || !utf8.ValidString(req.Message) {
		return toolabi.LogReply{}, toolabi.NewError(toolabi.Invalid, fmt.Sprintf("log at level %d", req.Level))
	}
	s.Logs = append(s.Logs, req)
	return toolabi.LogReply{}, nil
}

func (s *stage) progress(req toolabi.ProgressRequest) (toolabi.ProgressReply, error) {
	s.Reports = append(s.Reports, req)
	return toolabi.ProgressReply{}, nil
}

func (s *stage) clock(toolabi.ClockRequest) (toolabi.ClockReply, error) {
	return toolabi.ClockReply{UnixNano: s.now().UnixNano()}, nil
}

// now is what the clock shows.
func (s *stage) now() time.Time { return s.Clock().Add(s.slept) }

func (s *stage) random(req toolabi.RandomRequest) (toolabi.RandomReply, error) {
	if req.N == 0 {
		return toolabi.RandomReply{}, toolabi.NewError(toolabi.Invalid, "draw no random bytes")
	}
	if req.N > toolabi.MaxRandom {
		return toolabi.RandomReply{}, toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("draw %d random bytes: at most %d", req.N, toolabi.MaxRandom))
	}
	return toolabi.RandomReply{Bytes: s.Random(int(req.N))}, nil
}

// handle decodes a request, answers it and encodes the reply.
func handle[Req, Reply any](raw []byte, fn func(Req) (Reply, error)) ([]byte, *toolabi.Error) {
	var req Req
	if err := toolabi.Decode(raw, &req); err != nil {
		return nil, toolabi.NewError(toolabi.Invalid, err.Error())
	}
	reply, err := fn(req)
	if err != nil {
		return nil, asError(err)
	}
	b, err := toolabi.Encode(reply)
	if err != nil {
		return nil, asError(err)
	}
	return b, nil
}

func asError(err error) *toolabi.Error {
	var e *toolabi.Error
	if errors.As(err, &e) {
		return e
	}
	return toolabi.NewError(toolabi.Internal, err.Error())
}
