package registry

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/wrun-dev/wrun/toolabi"
)

// ReadInput decodes exactly one JSON value into in. It fails with toolabi.BadInput, also for a field that in does not
// have.
func ReadInput(input []byte, in any) error {
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return badInput(err)
	}
	for _, b := range input[d.InputOffset():] {
		if b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return badInput(errors.New("more follows after the value"))
		}
	}
	return nil
}

func badInput(err error) error {
	return toolabi.NewError(toolabi.BadInput, "read input: "+err.Error())
}

// WriteOutput encodes a tool's output. It fails with toolabi.BadOutput.
func WriteOutput(out any) ([]byte, error) {
	b, err := WriteJSON(out)
	if err != nil {
		return nil, toolabi.NewError(toolabi.BadOutput, "write output: "+err.Error())
	}
	return b, nil
}

// WriteJSON encodes a value, with <, > and & as they are.
func WriteJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
