// Package registry holds the tools that a module's init registered, runs one for a request and describes them all. It is
// the one way in, for the sandbox's exports and for tests alike.
//
// It does not reach the host: that is sdk's.
package registry

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/wrun-dev/wrun/sdk/internal/schema"
	"github.com/wrun-dev/wrun/toolabi"
)

// Entry is one registered tool.
type Entry struct {
	// Tool is its description, without the schemas.
	Tool toolabi.Tool
	// In and Out are the types that the schemas are made of.
	In, Out reflect.Type
	// Run takes the input as JSON and returns the output as JSON.
	Run func(ctx context.Context, input []byte) ([]byte, error)
}

// Set is a module: its name and its tools. It is filled by one goroutine, then read by any number.
type Set struct {
	manifest toolabi.Manifest
	named    int
	entries  []Entry
}

// Default is the module of this program.
var Default = new(Set)

// Module lets fill write the module's own fields. More than one use is reported by Manifest.
func (s *Set) Module(fill func(*toolabi.Manifest)) {
	s.named++
	fill(&s.manifest)
}

// Add adds a tool.
func (s *Set) Add(e Entry) { s.entries = append(s.entries, e) }

// Invoke decodes a toolabi.Request, runs its tool and returns the encoded toolabi.Reply. Everything that a tool can do
// wrong is in the reply; an error means that there was no request to answer.
func (s *Set) Invoke(ctx context.Context, request []byte) ([]byte, error) {
	req, err := toolabi.DecodeRequest(request)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if req.ABI != 1 {
		return EncodeFailure(toolabi.NewError(toolabi.Unsupported, fmt.Sprintf("request of ABI %d, this module has ABI 1", req.ABI))), nil
	}
	for _, e := range s.entries {
		if e.Tool.Name == req.Tool && e.Run != nil {
			return reply(e.Run(ctx, req.Input)), nil
		}
	}
	return EncodeFailure(toolabi.NewError(toolabi.NotFound, fmt.Sprintf("module has no tool %q", toolabi.CutText(req.Tool, 80)))), nil
}

func reply(output []byte, err error) []byte {
	if err != nil {
		return EncodeFailure(failure(err))
	}
	return toolabi.AppendReply(make([]byte, 0, len(output)+envelope), toolabi.Reply{Output: output})
}

// envelope is the most that a reply adds to its output, in bytes.
const envelope = 16

// Manifest returns the module's manifest, or everything that is wrong with it.
func (s *Set) Manifest() (*toolabi.Manifest, error) {
	m := s.manifest
	var errs []error
	if s.named != 1 {
		errs = append(errs, fmt.Errorf("sdk.Module was called %d times, want once", s.named))
	}
	for _, e := range s.entries {
		t, err := e.describe()
		if err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", e.Tool.Name, err))
		}
		m.Tools = append(m.Tools, t)
	}
	if err := errors.Join(append(errs, m.Validate())...); err != nil {
		return nil, err
	}
	return &m, nil
}

// Judge holds the input of a tool, or its output, against its schema as the host would.
func (s *Set) Judge(tool string, output bool, raw []byte) error {
	for _, e := range s.entries {
		switch {
		case e.Tool.Name != tool:
		case output:
			return schema.Judge(e.Out, true, raw)
		default:
			return schema.Judge(e.In, false, raw)
		}
	}
	return fmt.Errorf("module has no tool %q", tool)
}

// Describe returns the encoded manifest as it goes into the module's section, read back once to see that it can be.
func (s *Set) Describe() ([]byte, error) {
	m, err := s.Manifest()
	if err != nil {
		return nil, err
	}
	b, err := toolabi.Encode(m)
	if err != nil {
		return nil, err
	}
	if _, err := toolabi.ParseManifest(b); err != nil {
		return nil, err
	}
	return b, nil
}

func (e Entry) describe() (toolabi.Tool, error) {
	t := e.Tool
	if e.Run == nil {
		return t, errors.New("has no Run")
	}
	in, err := schema.Input(e.In)
	if err != nil {
		return t, fmt.Errorf("describe the input: %w", err)
	}
	out, err := schema.Output(e.Out)
	if err != nil {
		return t, fmt.Errorf("describe the output: %w", err)
	}
	t.Input, t.Output = in, out
	return t, nil
}
