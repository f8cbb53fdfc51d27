package plan

import (
	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

// load reads the text of a plan, as strictly as every file of wrun is read.
func load(text []byte) (*yaml.Node, []error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "plan", MaxBytes: MaxBytes, MaxDepth: MaxDepth})
	var errs []error
	for _, m := range found {
		errs = append(errs, &Error{Line: m.Line, Column: m.Column, Message: m.Message})
	}
	return top, errs
}

// maxErrors is how many mistakes are reported at once.
const maxErrors = strictyaml.MaxMistakes

func scalar(n *yaml.Node) (value any, wrong string) { return strictyaml.Scalar(n) }

func describe(n *yaml.Node) string { return strictyaml.Describe(n) }

func suggest(word string, candidates []string) string { return strictyaml.Suggest(word, candidates) }
