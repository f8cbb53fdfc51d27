package tooltest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Record writes a call that is in a log as a case: what the tool asked and was told becomes the world, and what came of it the
// expectation. Bodies are in the entries. Values of secrets are not in a log; made up ones are written in their places. notes say what
// the case cannot hold.
func (b *Bench) Record(ctx context.Context, log []journal.Entry, step journal.Step, name string) (_ *toolcase.File, notes []string, err error) {
	r, err := b.replay(ctx, pastOf(log), step)
	if err != nil {
		return nil, nil, err
	}
	input, err := jq.Decode(r.input, maxNumber)
	if err != nil {
		return nil, nil, fmt.Errorf("the input of %s: %w", step, err)
	}
	c := &toolcase.Case{Name: name, Tool: r.tool, Input: input}
	w := &recorder{
		module: b.module.Name, expect: &c.Expect, kv: map[string]map[string]*world.Body{}, files: map[string]string{}, config: map[string]*string{},
		secrets: map[string]bool{}, tools: map[string][]world.ToolReply{}, wrote: map[string]bool{},
	}
	if t, _ := b.module.Manifest.Tool(r.tool); t.Approval {
		w.approvals = append(w.approvals, world.Approval{Yes: true})
	}
	for _, x := range r.exchanges {
		w.take(x)
	}
	c.World = w.world(time.Unix(0, r.started).UTC().Truncate(time.Second))
	w.end(r)
	return &toolcase.File{Cases: []*toolcase.Case{c}}, w.notes, nil
}

// recorder makes a world of what was asked and told.
type recorder struct {
	module    string
	expect    *toolcase.Expect
	routes    []*world.Route
	kv        map[string]map[string]*world.Body
	files     map[string]string
	config    map[string]*string // nil: it was not there
	secrets   map[string]bool    // false: it was not there
	approvals []world.Approval
	mail      []world.Mail
	tools     map[string][]world.ToolReply
	wrote     map[string]bool // keys and files that the tool wrote
	notes     []string
}

func (r *recorder) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// take adds one exchange.
func (r *recorder) take(x exchange) {
	switch {
	case x.function == toolabi.FuncHTTPFetch, x.function == toolabi.FuncHTTPSend:
		r.http(x)
	case strings.HasPrefix(x.function, "kv_"):
		r.store(x)
	case strings.HasPrefix(x.function, "workspace_"):
		r.file(x)
	case x.function == toolabi.FuncConfigGet:
		if reply := decoded[toolabi.ConfigGetReply](x.reply); x.err == nil {
			key := decoded[toolabi.ConfigGetRequest](x.request).Key
			if r.config[key] = nil; reply.Found {
				r.config[key] = &reply.Value
			}
		}
	case x.function == toolabi.FuncSecretHas:
		name := decoded[toolabi.SecretHasRequest](x.request).Name
		r.secrets[name] = r.secrets[name] || decoded[toolabi.SecretHasReply](x.reply).Has
	case x.function == toolabi.FuncApprove:
		reply := decoded[toolabi.ApproveReply](x.reply)
		if !x.open {
			r.approvals = append(r.approvals, world.Approval{Yes: x.err == nil, By: reply.By, Note: reply.Note})
		}
	case x.function == toolabi.FuncMailSend:
		r.message(x)
	case x.function == toolabi.FuncToolCall:
		r.tool(x)
	case x.function == toolabi.FuncRandom:
		r.note("the tool draws random bytes: what it makes of them is another in each test, so expect it with where")
	case strings.HasPrefix(x.function, "artifact_"):
		r.note("artifacts that are not the call's own are not in the case")
	}
}

// leftOut are headers of replies that are not a world's: they change from one time to the next, or are somebody's session.
var leftOut = []string{"Date", "Content-Length", "Connection", "Keep-Alive", "Transfer-Encoding", "Set-Cookie", "Trailer"}

func (r *recorder) http(x exchange) {
	req := decoded[toolabi.HTTPRequest](x.request)
	text := string(req.Body)
	for _, h := range req.Headers {
		text += "\n" + h.Value
	}
	names, _ := toolabi.SecretRefs(text)
	for _, name := range names {
		r.secrets[name] = true
	}
	if x.err != nil && (x.err.Code == toolabi.Denied || x.err.Code == toolabi.Invalid) {
		return // it never left the host
	}
	route, err := world.NewRoute(req.Method, req.URL)
	if err != nil {
		r.note("%s %s cannot be written as a route: %v", req.Method, req.URL, err)
		return
	}
	route.Body = world.BodyOf(req.Body)
	route.Replies = []world.Reply{r.reply(x)}
	if before := r.sameAs(route); before != nil {
		before.Replies = append(before.Replies, route.Replies...)
		return
	}
	for n := 2; slices.ContainsFunc(r.routes, func(o *world.Route) bool { return o.Name == route.Name }); n++ {
		route.Name = fmt.Sprintf("%s %s (%d)", req.Method, req.URL, n)
	}
	r.routes = append(r.routes, route)
}

// sameAs is the route that answers the same request already.
func (r *recorder) sameAs(route *world.Route) *world.Route {
	for _, o := range r.routes {
		if o.Method == route.Method && o.URL == route.URL && bytes.Equal(o.Body.Raw(), route.Body.Raw()) {
			return o
		}
	}
	return nil
}

// reply is what a server of the world answers, so that the tool is told the same.
func (r *recorder) reply(x exchange) world.Reply {
	switch {
	case x.open:
		return world.Reply{Status: 200, Fault: world.LostReply}
	case x.err == nil:
	case x.err.Effect == toolabi.EffectNone && x.function == toolabi.FuncHTTPSend, x.err.Detail == "connect", x.err.Detail == "dns", x.err.Detail == "tls":
		return world.Reply{Status: 200, Fault: world.Refused}
	case x.err.Code == toolabi.Timeout:
		return world.Reply{Status: 200, Fault: world.Hangs}
	default:
		return world.Reply{Status: 200, Fault: world.LostReply}
	}
	got := decoded[toolabi.HTTPReply](x.reply)
	a := world.Reply{Status: int(got.Status), Body: world.BodyOf(got.Body), Headers: map[string]string{}}
	for _, h := range got.Headers {
		switch {
		case slices.Contains(leftOut, h.Name) || !world.Sendable(h.Name, h.Value):
		case a.Headers[h.Name] != "":
			a.Headers[h.Name] += ", " + h.Value
		default:
			a.Headers[h.Name] = h.Value
		}
	}
	if got.Artifact != "" {
		r.note("a reply that was kept as an artifact is not in the case")
	}
	return a
}

func (r *recorder) store(x exchange) {
	if x.err != nil {
		return
	}
	var name, key string
	in := func(store string) map[string]*world.Body {
		if name = store; name == "" {
			name = r.module
		}
		if r.kv[name] == nil {
			r.kv[name] = map[string]*world.Body{}
		}
		return r.kv[name]
	}
	expect := func(b *world.Body) {
		r.wrote[name+"\x00"+key] = true
		if r.expect.KV == nil {
			r.expect.KV = map[string]map[string]*world.Body{}
		}
		if r.expect.KV[name] == nil {
			r.expect.KV[name] = map[string]*world.Body{}
		}
		r.expect.KV[name][key] = b
	}
	switch x.function {
	case toolabi.FuncKVGet:
		req, reply := decoded[toolabi.KVGetRequest](x.request), decoded[toolabi.KVGetReply](x.reply)
		store := in(req.Store)
		if key = req.Key; reply.Found && !r.wrote[name+"\x00"+key] {
			store[key] = storedBody(reply.Value)
		}
	case toolabi.FuncKVList:
		req, reply := decoded[toolabi.KVListRequest](x.request), decoded[toolabi.KVListReply](x.reply)
		store := in(req.Store)
		for _, item := range reply.Items {
			if store[item.Key] == nil && !r.wrote[name+"\x00"+item.Key] {
				store[item.Key] = storedBody(item.Value)
			}
		}
	case toolabi.FuncKVPut:
		req := decoded[toolabi.KVPutRequest](x.request)
		in(req.Store)
		key = req.Key
		expect(storedBody(req.Value))
	case toolabi.FuncKVCAS:
		req := decoded[toolabi.KVCASRequest](x.request)
		in(req.Store)
		key = req.Key
		expect(storedBody(req.Value))
	case toolabi.FuncKVDelete:
		req := decoded[toolabi.KVDeleteRequest](x.request)
		in(req.Store)
		key = req.Key
		expect(nil)
	}
}

// storedBody is what is in a store: JSON only where its bytes are written just so.
func storedBody(raw []byte) *world.Body {
	if b := world.BodyOf(raw); b != nil && b.IsJSON && bytes.Equal(b.Raw(), raw) {
		return b
	}
	return world.Text(string(raw))
}

func (r *recorder) file(x exchange) {
	if x.err != nil {
		return
	}
	expect := func(path string, content *string) {
		if r.expect.Files == nil {
			r.expect.Files = map[string]*string{}
		}
		r.wrote["file\x00"+path] = true
		r.expect.Files[path] = content
	}
	switch x.function {
	case toolabi.FuncWorkspaceRead:
		req, reply := decoded[toolabi.WorkspaceReadRequest](x.request), decoded[toolabi.WorkspaceReadReply](x.reply)
		if r.wrote["file\x00"+req.Path] {
			return
		}
		if have := r.files[req.Path]; uint64(len(have)) == req.Offset {
			r.files[req.Path] = have + string(reply.Body)
		}
		if uint64(len(r.files[req.Path])) != reply.Size {
			r.note("only a part of the file %s was read, and is in the case", req.Path)
		}
	case toolabi.FuncWorkspaceList:
		for _, f := range decoded[toolabi.WorkspaceListReply](x.reply).Files {
			if _, have := r.files[f.Path]; !have && f.Kind == "file" && !r.wrote["file\x00"+f.Path] {
				r.files[f.Path] = ""
			}
		}
	case toolabi.FuncWorkspaceWrite:
		req := decoded[toolabi.WorkspaceWriteRequest](x.request)
		if req.Artifact == "" {
			text := string(req.Body)
			expect(req.Path, &text)
		}
	case toolabi.FuncWorkspaceRemove:
		expect(decoded[toolabi.WorkspaceRemoveRequest](x.request).Path, nil)
	}
}

func (r *recorder) message(x exchange) {
	req := decoded[toolabi.MailSendRequest](x.request)
	switch {
	case x.open:
		r.mail = append(r.mail, world.Lost)
	case x.err != nil && x.err.Code == toolabi.Denied:
		return
	case x.err != nil:
		r.mail = append(r.mail, world.Refuse)
		return
	default:
		r.mail = append(r.mail, world.Accept)
	}
	var to []string
	for _, address := range slices.Concat(req.To, req.Cc, req.Bcc) {
		if !slices.Contains(to, address) {
			to = append(to, address)
		}
	}
	m := toolcase.Mail{To: to, Subject: &req.Subject}
	if req.Text != "" {
		m.Text = &req.Text
	}
	r.expect.Mail, r.expect.HasMail = append(r.expect.Mail, m), true
}

func (r *recorder) tool(x exchange) {
	full := decoded[toolabi.ToolCallRequest](x.request).Tool
	if module, _, _ := strings.Cut(full, "."); module == r.module || x.open {
		return
	}
	reply := world.ToolReply{Err: x.err}
	if x.err == nil {
		v, err := jq.Decode(x.reply, maxNumber)
		if err != nil {
			r.note("the output of %s cannot be written: %v", full, err)
		}
		reply.Output = v
	}
	r.tools[full] = append(r.tools[full], reply)
}

// world is the world of all that was taken.
func (r *recorder) world(clock time.Time) *world.World {
	w := &world.World{
		Clock: clock, HTTP: r.routes, KV: r.kv, Files: r.files, Config: map[string]string{}, Secrets: map[string]string{}, Approvals: r.approvals, Mail: r.mail, Tools: r.tools,
	}
	for name, there := range r.secrets {
		if there {
			w.Secrets[name] = "made-up-" + name
		} else {
			w.LackSecret(name)
		}
	}
	for key, value := range r.config {
		if value != nil {
			w.Config[key] = *value
		} else {
			w.LackConfig(key)
		}
	}
	return w
}

// end is how the call ended, and how often routes acted.
func (r *recorder) end(c *replayed) {
	switch {
	case c.open:
		r.expect.Uncertain = true
	case c.err != nil:
		r.expect.Error = &toolcase.Error{Code: c.err.Code, Message: firstLine(c.err.Message)}
	default:
		if v, err := jq.Decode(c.output, maxNumber); err == nil {
			r.expect.Output, r.expect.HasOutput = v, true
		}
	}
	for _, t := range r.routes {
		if !t.Effect {
			continue
		}
		if r.expect.Acted == nil {
			r.expect.Acted = map[string]int{}
		}
		r.expect.Acted[t.Name] = 0
		for _, a := range t.Replies {
			if a.Fault != world.Refused {
				r.expect.Acted[t.Name]++
			}
		}
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
