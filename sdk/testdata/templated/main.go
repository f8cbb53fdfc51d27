// Command templated is a module for tests: it uses text/template, which makes the linker keep every method that is
// reachable, and one host function.
package main

import (
	"context"
	"strings"
	"text/template"

	"github.com/wrun-dev/wrun/sdk"
)

// In is the input of render.
type In struct {
	Template string `json:"template"`
}

// Out is the output of render.
type Out struct {
	Text string `json:"text"`
}

func init() {
	sdk.Module("templated", "1.0.0", "renders the time")
	sdk.Register(sdk.Tool[In, Out]{Name: "render", Idempotency: sdk.ReadOnly, Run: render})
}

func main() {}

func render(_ context.Context, in In) (Out, error) {
	now, err := sdk.Clock()
	if err != nil {
		return Out{}, err
	}
	t, err := template.New("t").Parse(in.Template)
	if err != nil {
		return Out{}, err
	}
	var b strings.Builder
	err = t.Execute(&b, now)
	return Out{Text: b.String()}, err
}
