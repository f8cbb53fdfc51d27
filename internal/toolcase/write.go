package toolcase

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/world"
)

// Text writes a file as Parse reads it.
func (f *File) Text() ([]byte, error) {
	n := world.Mapping()
	n.Put("wrun_test", number(Format))
	if f.Grants != nil {
		n.Put("grants", f.Grants.node())
	}
	if f.World != nil {
		n.Put("world", flow(f.World.Node()))
	}
	n.Put("cases", world.ListNode(f.Cases, (*Case).node))
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(n.Node), enc.Close())
	return b.Bytes(), err
}

func (c *Case) node() *yaml.Node {
	n := world.Mapping()
	n.Put("name", world.StringNode(c.Name))
	n.Put("tool", world.StringNode(c.Tool))
	n.Put("input", world.ValueNode(c.Input))
	if c.Grants != nil {
		n.Put("grants", c.Grants.node())
	}
	if c.World != nil {
		n.Put("world", flow(c.World.Node()))
	}
	n.Put("expect", c.Expect.node())
	return n.Node
}

// flow writes what is empty as {} and [].
func flow(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func (g *Grants) node() *yaml.Node { return texts(g.Words) }

func texts(list []string) *yaml.Node { return flow(world.ListNode(list, world.StringNode)) }

func number(n int) *yaml.Node { return world.ValueNode(json.Number(strconv.Itoa(n))) }

func (e *Expect) node() *yaml.Node {
	n := world.Mapping()
	switch {
	case e.HasOutput:
		n.Put("output", world.ValueNode(e.Output))
	case len(e.Where) > 0:
		var list []string
		for _, c := range e.Where {
			list = append(list, c.Text)
		}
		n.Put("where", texts(list))
	case e.Error != nil:
		failure := world.Mapping()
		if e.Error.Code != 0 {
			failure.Put("code", world.StringNode(e.Error.Code.String()))
		}
		if e.Error.Message != "" {
			failure.Put("message", world.StringNode(e.Error.Message))
		}
		n.Put("error", flow(failure.Node))
	case e.Uncertain:
		n.Put("uncertain", world.ValueNode(true))
	}
	if len(e.Acted) > 0 {
		acted := world.Mapping()
		for _, name := range slices.Sorted(maps.Keys(e.Acted)) {
			acted.Put(name, number(e.Acted[name]))
		}
		n.Put("acted", acted.Node)
	}
	e.afterNodes(n.Put)
	if len(e.Logs) > 0 {
		n.Put("logs", texts(e.Logs))
	}
	return flow(n.Node)
}

func (e *Expect) afterNodes(put func(string, *yaml.Node)) {
	if len(e.KV) > 0 {
		stores := world.Mapping()
		for _, name := range slices.Sorted(maps.Keys(e.KV)) {
			store := world.Mapping()
			for _, key := range slices.Sorted(maps.Keys(e.KV[name])) {
				value := world.ValueNode(nil)
				if b := e.KV[name][key]; b != nil {
					value = b.Node()
				}
				store.Put(key, value)
			}
			stores.Put(name, flow(store.Node))
		}
		put("kv", stores.Node)
	}
	if len(e.Files) > 0 {
		files := world.Mapping()
		for _, path := range slices.Sorted(maps.Keys(e.Files)) {
			content := world.ValueNode(nil)
			if text := e.Files[path]; text != nil {
				content = world.StringNode(*text)
			}
			files.Put(path, content)
		}
		put("files", files.Node)
	}
	if e.HasMail {
		put("mail", flow(world.ListNode(e.Mail, Mail.node)))
	}
}

func (m Mail) node() *yaml.Node {
	n := world.Mapping()
	if len(m.To) > 0 {
		n.Put("to", texts(m.To))
	}
	for _, f := range []struct {
		name string
		text *string
	}{{"subject", m.Subject}, {"text", m.Text}, {"html", m.HTML}} {
		if f.text != nil {
			n.Put(f.name, world.StringNode(*f.text))
		}
	}
	return flow(n.Node)
}
