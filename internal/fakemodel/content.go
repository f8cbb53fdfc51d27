package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// content is what stands in a message: a string, or a list of blocks.
type content []contentBlock

// contentBlock is one block, with the fields of every kind.
type contentBlock struct {
	Type string       `json:"type"`
	Text script.Bytes `json:"text"`

	ID    string          `json:"id"`    // tool_use
	Name  string          `json:"name"`  // tool_use
	Input json.RawMessage `json:"input"` // tool_use

	ToolUseID string  `json:"tool_use_id"` // tool_result
	Content   content `json:"content"`     // tool_result
	IsError   bool    `json:"is_error"`    // tool_result
}

// UnmarshalJSON reads either form; null is empty.
func (c *content) UnmarshalJSON(text []byte) error {
	*c = nil
	switch text = bytes.TrimSpace(text); {
	case string(text) == "null":
		return nil
	case bytes.HasPrefix(text, []byte{'"'}):
		var s script.Bytes
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		*c = content{{Type: "text", Text: s}}
		return nil
	}
	var blocks []contentBlock
	if err := json.Unmarshal(text, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// text is the text of a content that must be nothing else.
func (c content) text() (string, error) {
	var parts []string
	for _, b := range c {
		if b.Type != "text" {
			return "", fmt.Errorf("content: a block of the type %.40q cannot stand here", b.Type)
		}
		parts = append(parts, string(b.Text))
	}
	return joinTexts(parts), nil
}
