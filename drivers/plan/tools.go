package plan

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

var (
	moduleName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
	toolName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// sources reads where the modules come from.
func (p *parser) sources(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.fail(n, `"tools" has to be a mapping, this is %s`, describe(n))
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !moduleName.MatchString(k.Value) {
			p.fail(k, "%.80q is no name of a module: want lower-case letters, digits and inner hyphens, at most 64", k.Value)
		}
		file := p.str(v, "the file of a module")
		if file == "" {
			continue
		}
		source := Source{Name: k.Value, Line: k.Line}
		switch wrong := checkFile(file); {
		case wrong != "":
			p.fail(v, "the file %.120q %s", file, wrong)
		case IsFile(file):
			source.File = file
		case moduleName.MatchString(file):
			source.Added = file
		default:
			p.fail(v, "%.120q is neither a file, which has a / in it or .wasm at its end, nor the name of a module that was added", file)
		}
		p.known[k.Value] = true
		p.plan.sources = append(p.plan.sources, source)
	}
}

// IsFile says whether a source, here or on a command line, is a file, and not the name of a module that was added: whichever files
// there are.
func IsFile(source string) bool {
	return strings.ContainsAny(source, `/\`) || strings.HasSuffix(strings.ToLower(source), ".wasm")
}

// checkFile says what is wrong with a reference to a file, or "". The answer is the same on every system.
func checkFile(file string) string {
	switch {
	case len(file) > 1024:
		return "has more than 1024 bytes"
	case strings.ContainsFunc(file, unicode.IsControl):
		return "has a control character in it"
	case strings.Contains(file, `\`):
		return "has a backslash in it; write / between directories"
	case strings.HasPrefix(file, "/"):
		return "is absolute; it has to be relative to the plan"
	case strings.Contains(file, ":"):
		return "has a colon in it; it has to be a path relative to the plan"
	case slices.Contains(strings.Split(file, "/"), ".."):
		return "leads out of the plan's directory"
	case strings.HasSuffix(file, "/"), file == ".":
		return "is a directory"
	}
	return ""
}

// tool reads "module.tool".
func (p *parser) tool(n *yaml.Node) string {
	s := p.str(n, `"tool"`)
	if s == "" {
		return ""
	}
	module, tool, _ := strings.Cut(s, ".")
	if !moduleName.MatchString(module) || !toolName.MatchString(tool) {
		p.fail(n, `%.80q is no name of a tool: want "module.tool"`, s)
		return ""
	}
	if !p.known[module] && !p.full() {
		p.fail(n, `the module %q is not in "tools"%s`, module, suggest(module, slices.Sorted(maps.Keys(p.known))))
	}
	return s
}
