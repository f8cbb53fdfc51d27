package toolcase

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// MaxBytes is the longest file, in bytes.
	MaxBytes = 4 << 20
	// maxCases is how many cases a file may have.
	maxCases = 1000
)

// Parse reads a file of cases. Files reads what it names besides, nil where nothing can be named. The error joins up to twenty
// *strictyaml.Mistake.
func Parse(text []byte, files world.Files) (*File, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "file of cases", MaxBytes: MaxBytes, MaxDepth: world.MaxDepth})
	r := &reader{Reader: strictyaml.Found(found), files: files}
	var f *File
	if r.Count() == 0 {
		f = r.file(top)
	}
	if r.Count() == 0 {
		return f, nil
	}
	var errs []error
	for _, m := range r.Mistakes() {
		errs = append(errs, m)
	}
	return nil, errors.Join(errs...)
}

type reader struct {
	strictyaml.Reader
	files world.Files
}

func (r *reader) file(n *yaml.Node) *File {
	f := r.Fields(n, "a file of cases", []string{"wrun_test", "grants", "world", "cases"})
	if f == nil {
		return nil
	}
	out := &File{}
	if v := f["wrun_test"]; v == nil {
		r.Fail(n, `"wrun_test" is missing: the number of the format, %d`, Format)
	} else {
		r.Number(v, "wrun_test", Format, Format)
	}
	if v := f["grants"]; v != nil {
		out.Grants = r.grants(v)
	}
	if v := f["world"]; v != nil {
		out.World = world.Read(&r.Reader, v, r.files)
	}
	v := f["cases"]
	if v == nil {
		r.Fail(n, `"cases" is missing`)
		return out
	}
	items := r.List(v, "cases")
	if v.Kind == yaml.SequenceNode && (len(items) == 0 || len(items) > maxCases) {
		r.Fail(v, "%d cases, want 1 to %d", len(items), maxCases)
		return out
	}
	lines := map[string]int{}
	for _, item := range items {
		c := r.one(item)
		if line, twice := lines[c.Name]; twice && c.Name != "" {
			r.Fail(item, "there are two cases of the name %.80q; the first is on line %d", c.Name, line)
		}
		lines[c.Name] = c.Line
		out.Cases = append(out.Cases, c)
	}
	return out
}

func (r *reader) one(n *yaml.Node) *Case {
	c := &Case{Line: n.Line, Input: map[string]any{}}
	f := r.Fields(n, "a case", []string{"name", "tool", "input", "grants", "world", "expect"})
	if f == nil {
		return c
	}
	for name, to := range map[string]*string{"name": &c.Name, "tool": &c.Tool} {
		if v := f[name]; v == nil {
			r.Fail(n, "%q is missing", name)
		} else if *to = r.Str(v, name); toolabi.CleanLine(*to, 200) != *to {
			r.Fail(v, "%q has to be one line of at most 200 bytes", name)
		}
	}
	if v := f["input"]; v != nil {
		c.Input = r.Value(v)
	}
	if v := f["grants"]; v != nil {
		c.Grants = r.grants(v)
	}
	if v := f["world"]; v != nil {
		c.World = world.Read(&r.Reader, v, r.files)
	}
	if v := f["expect"]; v == nil {
		r.Fail(n, `"expect" is missing: what should come of it`)
	} else {
		c.Expect = r.expect(v)
	}
	return c
}

func (r *reader) expect(n *yaml.Node) (e Expect) {
	f := r.Fields(n, "what is expected", []string{"output", "where", "error", "uncertain", "acted", "kv", "files", "mail", "logs"})
	ends := 0
	for _, name := range []string{"output", "where", "error", "uncertain"} {
		v := f[name]
		if v == nil {
			continue
		}
		if ends++; ends > 1 {
			r.Fail(v, "output, where, error and uncertain exclude each other")
		}
		switch name {
		case "output":
			e.Output, e.HasOutput = r.Value(v), true
		case "where":
			e.Where = r.conditions(v)
		case "error":
			e.Error = r.failure(v)
		case "uncertain":
			if e.Uncertain = r.Bool(v, name); !e.Uncertain {
				r.Fail(v, `"uncertain" is true, or left out`)
			}
		}
	}
	if v := f["acted"]; v != nil {
		e.Acted = map[string]int{}
		for k, times := range r.Pairs(v, "acted") {
			e.Acted[k.Value] = int(r.Number(times, k.Value, 0, 1_000_000))
		}
	}
	r.after(&e, f)
	for _, c := range r.items(f["logs"], "logs") {
		e.Logs = append(e.Logs, r.Str(c, "logs"))
	}
	return e
}

// after reads what is there when the call is over.
func (r *reader) after(e *Expect, f map[string]*yaml.Node) {
	if v := f["kv"]; v != nil {
		e.KV = map[string]map[string]*world.Body{}
		for k, keys := range r.Pairs(v, "kv") {
			if !toolabi.IsStoreName(k.Value) {
				r.Fail(k, "%.80q is no name of a store", k.Value)
			}
			store := map[string]*world.Body{}
			for key, value := range r.Pairs(keys, k.Value) {
				store[key.Value] = nil
				if b := world.ReadBody(&r.Reader, value); !b.IsJSON || b.JSON != nil {
					store[key.Value] = b
				}
			}
			e.KV[k.Value] = store
		}
	}
	if v := f["files"]; v != nil {
		e.Files = map[string]*string{}
		for k, content := range r.Pairs(v, "files") {
			if err := toolabi.CheckWorkspacePath(k.Value); err != nil {
				r.Fail(k, "%.80q is no path in a workspace: %v", k.Value, err)
			}
			e.Files[k.Value] = nil
			if scalar, _ := strictyaml.Scalar(content); content.Kind != yaml.ScalarNode || scalar != nil {
				text := r.Text(content, k.Value)
				e.Files[k.Value] = &text
			}
		}
	}
	if v := f["mail"]; v != nil {
		e.HasMail = true
		for _, c := range r.List(v, "mail") {
			e.Mail = append(e.Mail, r.message(c))
		}
	}
}

func (r *reader) message(n *yaml.Node) (m Mail) {
	f := r.Fields(n, "a message", []string{"to", "subject", "text", "html"})
	if v := f["to"]; v != nil && v.Kind == yaml.SequenceNode {
		for _, c := range v.Content {
			m.To = append(m.To, r.Str(c, "to"))
		}
	} else if v != nil {
		m.To = []string{r.Str(v, "to")}
	}
	for name, to := range map[string]**string{"subject": &m.Subject, "text": &m.Text, "html": &m.HTML} {
		if v := f[name]; v != nil {
			text := r.Text(v, name)
			*to = &text
		}
	}
	return m
}

func (r *reader) failure(n *yaml.Node) *Error {
	e := &Error{}
	f := r.Fields(n, "an error", []string{"code", "message"})
	if v := f["code"]; v != nil {
		e.Code = world.ReadCode(&r.Reader, v)
	}
	if v := f["message"]; v != nil {
		e.Message = r.Str(v, "message")
	}
	return e
}

func (r *reader) conditions(n *yaml.Node) (all []*world.Cond) {
	for _, c := range r.items(n, "where") {
		if cond := world.ReadCond(&r.Reader, c, "where"); cond != nil {
			all = append(all, cond)
		}
	}
	if r.Count() == 0 && len(all) == 0 {
		r.Fail(n, `"where" is empty; leave it out`)
	}
	return all
}

// items are those of a list, or a single one.
func (r *reader) items(n *yaml.Node, field string) []*yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode:
		return []*yaml.Node{n}
	}
	return r.List(n, field)
}
