// Command text is a module of wrun whose tools compute and touch nothing: they render templates, add integers, change
// case, and fail on request.
//
// It asks for no grant, and is not a place for tools that do.
package main

import "github.com/wrun-dev/wrun/sdk"

func init() {
	sdk.Module("text", "0.1.0", "Renders templates, adds integers, changes case, and fails on request.")
	sdk.Register(sdk.Tool[RenderIn, RenderOut]{
		Name: "render", Description: "Renders a Go text/template with JSON data.", Idempotency: sdk.Pure, Run: render,
	})
	sdk.Register(sdk.Tool[SumIn, SumOut]{
		Name: "sum", Description: "Adds integers of any size, exactly.", Idempotency: sdk.Pure, Run: sum,
	})
	sdk.Register(sdk.Tool[FailIn, FailOut]{
		Name: "fail", Description: "Always fails, with the detail and message it is given.", Idempotency: sdk.Pure, Run: fail,
	})
	sdk.Register(sdk.Tool[UpperIn, UpperOut]{
		Name: "upper", Description: "Changes a text to upper case.", Idempotency: sdk.Pure, Run: upper,
	})
}

func main() {}
