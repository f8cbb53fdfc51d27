package hostfuncs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// Func is one host function.
type Func struct {
	// Name is the import's name.
	Name string
	// Class is the strongest class it has.
	Class toolabi.Class
	// Call answers one request. A *toolabi.Error is shown to the tool; any other error is a fault of the host, and is
	// shown as toolabi.Internal. Calls may run concurrently, each with its own Call. It is nil in functions of class Wait,
	// which have Await, and of class Call, whose step runtime takes itself.
	Call func(ctx context.Context, c Call, req []byte) ([]byte, error)
	// Await judges a request of a function of class Wait and says what is waited for. It is called once, when the request
	// is first asked; what it says is recorded. Errors are as for Call. nil for all other classes.
	Await func(c Call, req []byte) (Pending, error)
	// Timeout returns how long a request may take at most; nil, or 0, means that it does not wait. What must not be
	// repeated is bounded by this alone: its context is not cancelled by the call's own limit.
	Timeout func(req []byte) time.Duration
	// MaxReply returns how long the reply to a request can be at most, in bytes, with what is kept as an artifact of it. As much
	// space is held for it before what must not be repeated is begun. nil means toolabi.MaxOutput.
	MaxReply func(req []byte) int64
	// Check judges a request before anything is written about it: what it refuses is never begun. Call judges again. nil
	// refuses nothing. Errors are as for Call.
	Check func(c Call, req []byte) error
	// Describe says in a few words what a request asks for, such as "POST api.example.com/charges", for people. It is
	// recorded with the intent. nil says nothing.
	Describe func(req []byte) string
	// Bulky says that requests are not kept, only their digests: a tool that is entered again asks again, and what it asked for
	// is found in what came of it. Of class Effect.
	Bulky bool
	// ShowRequest writes a request as JSON, for people and for look-ups. nil where there is no such form.
	ShowRequest func(req []byte) ([]byte, error)
	// ParseReply makes the encoded reply of what a person or a look-up says the answer was, in JSON; ShowReply writes a
	// reply in that form. Nil where nobody can say it.
	ParseReply, ShowReply func(b []byte) ([]byte, error)
}

// Pending is what a step of class Wait waits for.
type Pending struct {
	// Text is what a person is asked, or what is waited for, on one line and cleaned.
	Text string
	// Detail is JSON that is shown beneath it, as the tool wrote it: who shows it cleans it. nil when there is none.
	Detail []byte
	// Due is when the clock answers, with Reply; the zero time means that it does not. It may have passed.
	Due time.Time
	// Expires is from when on the answer is a denial with toolabi.DetailExpired; the zero time means never.
	Expires time.Time
	// Reply is the encoded reply that the clock gives at Due.
	Reply []byte
}

// Call is what a host function knows of the use that is made of it.
type Call struct {
	// Run and Step name the use.
	Run, Step string
	// Module and Tool say who asks. The module's name is that of its manifest, whatever a driver calls it by.
	Module, Tool string
	// Grants is what the operator lets the module do.
	Grants Grants
	// Targets are what the module's manifest says it wants to reach with this function; none means no restriction by
	// the manifest. Reason is why, in the author's words, and Secrets are the secrets that its requests may refer to.
	Targets []string
	Reason  string
	Secrets []string
	// Key is the idempotency key; empty for what needs none.
	Key string
	// Repeatable says whether the request may be sent again under the same key.
	Repeatable bool
	// Now returns the time; never nil when runtime calls.
	Now func() time.Time
	// Began is when this use was announced, and stays the same when it is done again. The zero time for what is not announced.
	Began time.Time
	// BeforeSend is called immediately before the first byte leaves the host. When it returns an error nothing may be
	// sent, and the function returns that error as it is. nil means always.
	BeforeSend func() error
	// Log takes what a tool says to people, already cleaned of control characters. nil drops it.
	Log func(level uint8, message string)
	// Progress takes how far a tool has come. nil drops it.
	Progress func(done, total uint64, message string)
	// Get reads a key of a tool's state, with all that the run wrote before. Version is that of the key's last write, also where
	// that removed it; the next write makes the one after it. It is 0 for a key that was never written. Stage wants to be told
	// the version of a key that is there, and 0 for one that is not.
	Get func(space, key string) (value []byte, version uint64, found bool, err error)
	// Stage changes a key in the same transaction in which the outcome of this use is recorded, if the key then has the
	// version that is expected; otherwise the function is called again. For functions of class Local.
	Stage func(space, key string, value []byte, remove bool, expect uint64)
	// Scan reads at most limit keys of a tool's state that begin with prefix and come behind after, in the order of their bytes,
	// with all that the run wrote before; fewer where they are long, but at least one where there is one. more says that there are
	// others.
	Scan func(space, prefix, after string, limit int) (items []Item, more bool, err error)
	// Artifacts are the run's; nil where nothing can be kept.
	Artifacts Artifacts
	// Versions are the files that the run has written and removed so far, in that order.
	Versions func() []Version
	// Files is how many files the run has by what it has written and removed so far, without the one of a path, and how many bytes
	// they are together. nil counts none.
	Files func(ctx context.Context, without string) (count int, bytes uint64, err error)
	// Sent, when not nil, is told how many bytes were written for an effect. It is called at most once, after the exchange.
	Sent func(bytes int64)
}

// ErrDamaged says that what is stored does not have the form in which it was stored. A function that returns it ends the run.
var ErrDamaged = errors.New("what is stored is damaged")

// Item is one key of a tool's state.
type Item struct {
	Key     string
	Value   []byte
	Version uint64
}

// Artifacts keeps bytes of a run by their SHA-256. It may be used concurrently.
type Artifacts interface {
	// Put stores everything that r yields and makes it an artifact of the run, together with the outcome that is being made: it
	// is on the disk before that is recorded. A reader's error is returned as it is, and nothing is kept.
	Put(ctx context.Context, r io.Reader) (toolabi.Digest, int64, error)
	// Open returns an artifact of the run and its length; the caller closes it. An error at the end says that the bytes are
	// damaged. An artifact that the run does not have is a *toolabi.Error with toolabi.NotFound.
	Open(ctx context.Context, d toolabi.Digest) (io.ReadCloser, int64, error)
	// Usage is how many artifacts the run has, and how many bytes they are together.
	Usage(ctx context.Context) (count int, bytes uint64, err error)
}

// Version is what a run made of a file of its workspace.
type Version struct {
	Path string
	// Artifact is what was written; Removed says that the file was removed instead.
	Artifact toolabi.Digest
	Removed  bool
}

// Handle makes a Func of a Go function over decoded messages. A request that cannot be decoded is answered with
// toolabi.Invalid; a panic in fn is returned as an error.
func Handle[Req, Reply any](name string, class toolabi.Class, fn func(context.Context, Call, Req) (Reply, error)) Func {
	return Func{Name: name, Class: class, Call: func(ctx context.Context, c Call, raw []byte) (out []byte, err error) {
		defer func() {
			if p := recover(); p != nil {
				out, err = nil, fmt.Errorf("host function %s: %v", name, p)
			}
		}()
		var req Req
		if err := toolabi.Decode(raw, &req); err != nil {
			return nil, toolabi.NewError(toolabi.Invalid, name+": "+err.Error())
		}
		reply, err := fn(ctx, c, req)
		if err != nil {
			return nil, err
		}
		out, err = toolabi.Encode(reply)
		if err == nil && toolabi.Decode(out, new(Reply)) != nil { // it would be recorded, and could never be read
			err = fmt.Errorf("host function %s: its reply cannot be encoded", name)
		}
		return out, err
	}}
}

// AsError returns err as an error that a tool can see. Whatever is not a *toolabi.Error is a fault of the host.
func AsError(err error) *toolabi.Error {
	var e *toolabi.Error
	if errors.As(err, &e) {
		return e
	}
	return toolabi.NewError(toolabi.Internal, err.Error())
}
