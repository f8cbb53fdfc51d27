package hostfuncs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// approveFunc makes approve, whose answer is a person's.
func approveFunc(fallback func() time.Time) Func {
	await := func(c Call, raw []byte) (Pending, error) { return awaitApproval(c, fallback, raw) }
	return Func{
		Name: toolabi.FuncApprove, Class: toolabi.Wait, Await: await,
		Check:       func(c Call, raw []byte) error { _, err := await(c, raw); return err },
		Describe:    describeApproval,
		ShowRequest: showApproval, ParseReply: parseApproval, ShowReply: showApprovalReply,
	}
}

func awaitApproval(c Call, fallback func() time.Time, raw []byte) (Pending, error) {
	var req toolabi.ApproveRequest
	if err := toolabi.Decode(raw, &req); err != nil {
		return Pending{}, invalidf("approve: %v", err)
	}
	text := toolabi.CleanLine(req.Text, toolabi.MaxApproveText)
	switch {
	case strings.TrimSpace(text) == "":
		return Pending{}, invalidf("approve: the text is empty, or has nothing that could be shown")
	case len(req.Text) > toolabi.MaxApproveText:
		return Pending{}, invalidf("approve: a text of %d bytes, at most %d are allowed", len(req.Text), toolabi.MaxApproveText)
	case len(req.Detail) > toolabi.MaxApproveDetail:
		return Pending{}, invalidf("approve: a detail of %d bytes, at most %d are allowed", len(req.Detail), toolabi.MaxApproveDetail)
	case req.ExpiresMS > toolabi.MaxManifestMS:
		return Pending{}, invalidf("approve: it expires after %d ms, at most %d are allowed", req.ExpiresMS, uint64(toolabi.MaxManifestMS))
	}
	if len(req.Detail) > 0 {
		if err := toolabi.StrictJSON(req.Detail); err != nil {
			return Pending{}, invalidf("approve: the detail is not JSON: %v", err)
		}
	}
	p := Pending{Text: text, Detail: req.Detail}
	if req.ExpiresMS > 0 {
		p.Expires = timeOf(c, fallback).Add(time.Duration(req.ExpiresMS) * time.Millisecond)
	}
	return p, nil
}

func describeApproval(raw []byte) string {
	var req toolabi.ApproveRequest
	if toolabi.Decode(raw, &req) != nil {
		return ""
	}
	return toolabi.CleanLine(req.Text, 200)
}

func showApproval(raw []byte) ([]byte, error) {
	var req toolabi.ApproveRequest
	if err := toolabi.Decode(raw, &req); err != nil {
		return nil, err
	}
	return sayJSON(struct {
		Text   string          `json:"text"`
		Detail json.RawMessage `json:"detail,omitempty"`
	}{req.Text, req.Detail})
}

// yes is the form in which a person says yes.
type yes struct {
	By   string `json:"by"`
	Note string `json:"note,omitempty"`
}

// maxBy is how long the name of who says yes may be, in bytes.
const maxBy = 256

// parseApproval makes a reply of {"by":…,"note":…}.
func parseApproval(text []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := toolabi.StrictJSON(text); err != nil || json.Unmarshal(text, &fields) != nil || fields == nil {
		return nil, errors.New(`approval: want a JSON object, {"by":…,"note":…}`)
	}
	for name := range fields {
		if !slices.Contains([]string{"by", "note"}, name) {
			return nil, fmt.Errorf("approval: unknown field %.80q", name)
		}
	}
	var y yes
	if err := json.Unmarshal(text, &y); err != nil {
		return nil, fmt.Errorf("approval: %w", err)
	}
	switch {
	case strings.TrimSpace(y.By) == "":
		return nil, errors.New("approval: it does not say by whom")
	case len(y.By) > maxBy:
		return nil, fmt.Errorf("approval: a name of %d bytes, at most %d are allowed", len(y.By), maxBy)
	case len(y.Note) > toolabi.MaxText:
		return nil, fmt.Errorf("approval: a note of %d bytes, at most %d are allowed", len(y.Note), toolabi.MaxText)
	}
	return toolabi.Encode(toolabi.ApproveReply{By: y.By, Note: y.Note})
}

func showApprovalReply(reply []byte) ([]byte, error) {
	var r toolabi.ApproveReply
	if err := toolabi.Decode(reply, &r); err != nil {
		return nil, err
	}
	return sayJSON(yes{r.By, r.Note})
}
