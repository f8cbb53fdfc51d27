package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// MinSecret is how long the value of a secret is at least, in bytes: shorter ones cannot be taken out of a text again.
const MinSecret = 8

// MaxBytes is the longest text of a world, in bytes, MaxDepth how deep it may nest.
const (
	MaxBytes = 1 << 20
	MaxDepth = 64
)

// Files reads a file that a world names, by a path relative to the file it is written in.
type Files func(path string) ([]byte, error)

// field is one key of a world.
type field struct {
	name string
	read func(*reader, *World, *yaml.Node)
	take func(to, from *World)
}

// fields are the keys of a world, in the order of the documentation.
var fields = []field{
	{"clock", (*reader).clock, func(to, from *World) { to.Clock = from.Clock }},
	{"http", (*reader).http, func(to, from *World) { to.HTTP = from.HTTP }},
	{"kv", (*reader).kv, func(to, from *World) { to.KV = from.KV }},
	{"files", (*reader).files, func(to, from *World) { to.Files = from.Files }},
	{"config", (*reader).config, func(to, from *World) { to.Config, to.noConfig = from.Config, from.noConfig }},
	{"secrets", (*reader).secrets, func(to, from *World) { to.Secrets, to.noSecrets = from.Secrets, from.noSecrets }},
	{"approvals", (*reader).approvals, func(to, from *World) { to.Approvals = from.Approvals }},
	{"mail", (*reader).mail, func(to, from *World) { to.Mail = from.Mail }},
	{"tools", (*reader).tools, func(to, from *World) { to.Tools = from.Tools }},
}

// Parse reads a world that is a file of its own. The error joins up to twenty *strictyaml.Mistake.
func Parse(text []byte, files Files) (*World, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "world", MaxBytes: MaxBytes, MaxDepth: MaxDepth})
	r := strictyaml.Found(found)
	var w *World
	if r.Count() == 0 {
		w = Read(&r, top, files)
	}
	if r.Count() == 0 {
		return w, nil
	}
	var errs []error
	for _, m := range r.Mistakes() {
		errs = append(errs, m)
	}
	return nil, errors.Join(errs...)
}

// Read reads a world out of a larger file. What is wrong with it is among r's mistakes.
func Read(r *strictyaml.Reader, n *yaml.Node, files Files) *World {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	w := &World{set: map[string]bool{}}
	found := r.Fields(n, "a world", names)
	for _, f := range fields {
		if v := found[f.name]; v != nil {
			f.read(&reader{r, files}, w, v)
			w.set[f.name] = true
		}
	}
	return w
}

// reader reads the parts of a world.
type reader struct {
	*strictyaml.Reader
	file Files
}

func (r *reader) clock(w *World, n *yaml.Node) {
	s := r.Text(n, "clock")
	t, err := time.Parse(time.RFC3339, s)
	if s != "" && err != nil {
		r.Fail(n, "\"clock\" has to be a time such as 2026-01-02T03:04:05Z, this is %.60q", s)
	}
	w.Clock = t.UTC()
}

func (r *reader) kv(w *World, n *yaml.Node) {
	w.KV = map[string]map[string]*Body{}
	for k, v := range r.Pairs(n, "kv") {
		if !toolabi.IsStoreName(k.Value) {
			r.Fail(k, "%.80q is no name of a store", k.Value)
		}
		store := map[string]*Body{}
		for key, value := range r.Pairs(v, k.Value) {
			store[key.Value] = r.ReadBody(value)
		}
		w.KV[k.Value] = store
	}
}

// ReadBody reads a string as its bytes, and anything else as JSON.
func (r *reader) ReadBody(n *yaml.Node) *Body { return ReadBody(r.Reader, n) }

// ReadBody reads what stands for bytes in a case: a string as its bytes, and anything else as JSON.
func ReadBody(r *strictyaml.Reader, n *yaml.Node) *Body {
	v := r.Value(n)
	if s, ok := v.(string); ok {
		return Text(s)
	}
	return &Body{IsJSON: true, JSON: v}
}

func (r *reader) files(w *World, n *yaml.Node) {
	w.Files = map[string]string{}
	for k, v := range r.Pairs(n, "files") {
		if err := toolabi.CheckWorkspacePath(k.Value); err != nil {
			r.Fail(k, "%.80q is no path in a workspace: %v", k.Value, err)
		}
		w.Files[k.Value] = r.Text(v, k.Value)
	}
}

func (r *reader) config(w *World, n *yaml.Node) {
	w.Config, w.noConfig = map[string]string{}, map[string]bool{}
	for k, v := range r.Pairs(n, "config") {
		if !toolabi.IsSecretName(k.Value) {
			r.Fail(k, "%.80q is no key of a configuration", k.Value)
		}
		if isNull(v) {
			w.noConfig[k.Value] = true
			continue
		}
		if w.Config[k.Value] = r.Text(v, k.Value); len(w.Config[k.Value]) > toolabi.MaxConfigValue {
			r.Fail(v, "%q has more than %d bytes", k.Value, toolabi.MaxConfigValue)
		}
	}
}

func (r *reader) secrets(w *World, n *yaml.Node) {
	w.Secrets, w.noSecrets = map[string]string{}, map[string]bool{}
	for k, v := range r.Pairs(n, "secrets") {
		if !toolabi.IsSecretName(k.Value) {
			r.Fail(k, "%.80q is no name of a secret", k.Value)
		}
		if isNull(v) {
			w.noSecrets[k.Value] = true
			continue
		}
		value := r.Text(v, k.Value)
		if w.Secrets[k.Value] = value; len(strings.TrimSpace(value)) < MinSecret {
			r.Fail(v, "the value of a secret has at least %d bytes; make one up, and write no real one here", MinSecret)
		}
	}
}

// isNull says that something is written down as not being there.
func isNull(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	v, wrong := strictyaml.Scalar(n)
	return v == nil && wrong == ""
}

func (r *reader) approvals(w *World, n *yaml.Node) {
	for _, c := range r.List(n, "approvals") {
		w.Approvals = append(w.Approvals, r.approval(c))
	}
	r.notEmpty(n, "approvals", len(w.Approvals))
}

// notEmpty refuses a list that says nothing.
func (r *reader) notEmpty(n *yaml.Node, what string, items int) {
	if n.Kind == yaml.SequenceNode && items == 0 {
		r.Fail(n, "%q is empty; leave it out", what)
	}
}

func (r *reader) approval(n *yaml.Node) (a Approval) {
	if n.Kind != yaml.MappingNode {
		a.Yes = r.yes(n)
		return a
	}
	f := r.Fields(n, "an answer", []string{"yes", "by", "note"})
	if v := f["yes"]; v == nil {
		r.Fail(n, `"yes" is missing`)
	} else {
		a.Yes = r.yes(v)
	}
	if v := f["by"]; v != nil {
		a.By = r.Str(v, "by")
	}
	if v := f["note"]; v != nil {
		a.Note = r.Text(v, "note")
	}
	return a
}

// yes reads yes and no, or true and false.
func (r *reader) yes(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		switch v, _ := strictyaml.Scalar(n); v {
		case "yes", true:
			return true
		case "no", false:
			return false
		}
	}
	r.Fail(n, "want yes or no, this is %s", strictyaml.Describe(n))
	return false
}

func (r *reader) mail(w *World, n *yaml.Node) {
	fates := []string{string(Accept), string(Refuse), string(Lost)}
	for _, c := range r.List(n, "mail") {
		s := r.Text(c, "mail")
		if s != "" && !slices.Contains(fates, s) {
			r.Fail(c, "want accept, refuse or lost, this is %.40q%s", s, strictyaml.Suggest(s, fates))
		}
		w.Mail = append(w.Mail, Mail(s))
	}
	r.notEmpty(n, "mail", len(w.Mail))
}

func (r *reader) tools(w *World, n *yaml.Node) {
	w.Tools = map[string][]ToolReply{}
	for k, v := range r.Pairs(n, "tools") {
		module, tool, ok := strings.Cut(k.Value, ".")
		if !ok || !toolabi.IsModuleName(module) || tool == "" {
			r.Fail(k, "%.80q is no name of a tool; want MODULE.TOOL", k.Value)
		}
		var replies []ToolReply
		for _, c := range r.List(v, k.Value) {
			replies = append(replies, r.toolReply(c))
		}
		r.notEmpty(v, k.Value, len(replies))
		w.Tools[k.Value] = replies
	}
}

func (r *reader) toolReply(n *yaml.Node) (t ToolReply) {
	f := r.Fields(n, "an answer of a tool", []string{"output", "error"})
	switch out, failed := f["output"], f["error"]; {
	case f == nil:
	case (out == nil) == (failed == nil):
		r.Fail(n, `want "output" or "error"`)
	case out != nil:
		t.Output = r.Value(out)
	default:
		t.Err = r.toolError(failed)
	}
	return t
}

func (r *reader) toolError(n *yaml.Node) *toolabi.Error {
	e := toolabi.NewError(toolabi.Failed, "")
	f := r.Fields(n, "an error", []string{"code", "message"})
	if v := f["code"]; v != nil {
		e.Code = ReadCode(r.Reader, v)
	}
	if v := f["message"]; v != nil {
		e.Message = r.Text(v, "message")
	}
	return e
}

// codes are the codes of errors by their names.
var codes = func() map[string]toolabi.Code {
	m := map[string]toolabi.Code{}
	for c := toolabi.Denied; c <= toolabi.Expired; c++ {
		m[c.String()] = c
	}
	return m
}()

// ReadCode reads the name of a code; toolabi.Failed after a mistake.
func ReadCode(r *strictyaml.Reader, n *yaml.Node) toolabi.Code {
	s := r.Str(n, "code")
	c, ok := codes[s]
	if s != "" && !ok {
		r.Fail(n, "%.40q is no code of an error%s; there are %s", s, strictyaml.Suggest(s, slices.Sorted(maps.Keys(codes))), strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
	}
	if !ok {
		return toolabi.Failed
	}
	return c
}

var errNoFiles = errors.New("files cannot be named here")

// readFile reads a file that the world names.
func (r *reader) readFile(n *yaml.Node, path string) []byte {
	err := errNoFiles
	var b []byte
	if r.file != nil {
		b, err = r.file(path)
	}
	if err != nil {
		r.Fail(n, "file %.200q: %v", path, err)
	}
	return b
}

// condition reads a jq expression.
func (r *reader) condition(n *yaml.Node, field string) *Cond { return ReadCond(r.Reader, n, field) }

// ReadCond reads a jq expression; nil after a mistake.
func ReadCond(r *strictyaml.Reader, n *yaml.Node, field string) *Cond {
	text := r.Str(n, field)
	if text == "" {
		return nil
	}
	c, err := NewCond(text)
	if err != nil {
		r.Fail(n, "%q: %v", field, err)
		return nil
	}
	return c
}

// texts reads a mapping of strings.
func (r *reader) texts(n *yaml.Node, field string) map[string]string {
	m := map[string]string{}
	for k, v := range r.Pairs(n, field) {
		m[k.Value] = r.Text(v, fmt.Sprintf("%s: %s", field, k.Value))
	}
	if len(m) == 0 {
		return nil
	}
	return m
}
