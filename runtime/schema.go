package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wrun-dev/wrun/toolabi"
)

// schemas compiles the JSON Schemas of tools, each once.
type schemas struct {
	mu       sync.Mutex
	compiled map[toolabi.Digest]*jsonschema.Schema // guarded by mu
}

// check holds JSON against a schema, and says what is wrong with it. No schema accepts any JSON.
func (s *schemas) check(schema toolabi.RawJSON, doc []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return errors.New("not JSON") // what else it says differs between releases of Go
	}
	if len(schema) == 0 {
		return nil
	}
	c, err := s.compile(schema)
	if err != nil {
		return err
	}
	if err := judgeable(value); err != nil {
		return err
	}
	if err := c.Validate(value); err != nil {
		return errors.New(flatten(err))
	}
	return nil
}

func (s *schemas) compile(schema toolabi.RawJSON) (*jsonschema.Schema, error) {
	d := toolabi.DigestOf(schema)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.compiled[d]; c != nil {
		return c, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	if err := judgeable(doc); err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	const here = "tool:schema"
	if err := compiler.AddResource(here, doc); err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	c, err := compiler.Compile(here)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	if s.compiled == nil {
		s.compiled = map[toolabi.Digest]*jsonschema.Schema{}
	}
	s.compiled[d] = c
	return c, nil
}

// CheckSchema reports why a tool's schema cannot be used.
func CheckSchema(schema toolabi.RawJSON) error {
	var s schemas
	_, err := s.compile(schema)
	return err
}

// CheckJSON holds a document that comes from outside against a schema. What two readers could read differently is
// refused, see toolabi.StrictJSON.
func CheckJSON(schema toolabi.RawJSON, doc []byte) error {
	if err := toolabi.StrictJSON(doc); err != nil {
		return fmt.Errorf("not usable as JSON: %w", err)
	}
	var s schemas
	return s.check(schema, doc)
}

// noLoader refuses references to other documents: a schema must stand by itself.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may not refer to %q", toolabi.CutText(url, 80))
}
