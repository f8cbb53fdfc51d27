package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"text/template"

	"github.com/wrun-dev/wrun/sdk"
)

// RenderIn is the input of render.
type RenderIn struct {
	Template string          `json:"template" doc:"a Go text/template" maxLength:"1000000"`
	Data     json.RawMessage `json:"data,omitempty" doc:"what the template is given as its dot; numbers keep their digits"`
}

// RenderOut is the output of render.
type RenderOut struct {
	Text string `json:"text"`
}

// maxRendered bounds the text in bytes, so that a template that loops stops before memory runs out.
const maxRendered = 4 << 20

func render(_ context.Context, in RenderIn) (RenderOut, error) {
	t, err := template.New("template").Option("missingkey=error").Parse(in.Template)
	if err != nil {
		return RenderOut{}, sdk.Fail("template", err.Error())
	}
	data, err := decode(in.Data)
	if err != nil {
		return RenderOut{}, err
	}
	var out capped
	if err := t.Execute(&out, data); err != nil {
		if errors.Is(err, errTooLong) {
			return RenderOut{}, sdk.Fail("too_long", err.Error())
		}
		return RenderOut{}, sdk.Fail("data", err.Error())
	}
	return RenderOut{Text: out.String()}, nil
}

func decode(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, sdk.Fail("data", err.Error())
	}
	return v, nil
}

var errTooLong = errors.New("the text is longer than 4 MiB")

// capped is a buffer that refuses to grow over maxRendered.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > maxRendered {
		return 0, errTooLong
	}
	return c.Buffer.Write(p)
}
