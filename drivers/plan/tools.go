package plan

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/modref"
)

// sources reads where the modules come from.
func (p *parser) sources(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.fail(n, `"tools" has to be a mapping, this is %s`, describe(n))
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !modref.IsModule(k.Value) {
			p.fail(k, "%.80q is no name of a module: want lower-case letters, digits and inner hyphens, at most 64", k.Value)
		}
		file := p.str(v, "the file of a module")
		if file == "" {
			continue
		}
		source, wrong := modref.Read("the plan", k.Value, file, k.Line)
		if wrong != "" {
			p.fail(v, "%s", wrong)
		}
		p.known[k.Value] = true
		p.plan.sources = append(p.plan.sources, source)
	}
}

// tool reads "module.tool".
func (p *parser) tool(n *yaml.Node) string {
	s := p.str(n, `"tool"`)
	if s == "" {
		return ""
	}
	module, _, _ := strings.Cut(s, ".")
	if !modref.IsTool(s) {
		p.fail(n, `%.80q is no name of a tool: want "module.tool"`, s)
		return ""
	}
	if !p.known[module] && !p.full() {
		p.fail(n, `the module %q is not in "tools"%s`, module, suggest(module, slices.Sorted(maps.Keys(p.known))))
	}
	return s
}
