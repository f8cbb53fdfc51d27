// Command desk is a guest for tests: its tool works with files.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("desk", "1.0.0", "Works with files.",
		sdk.Need(toolabi.FuncWorkspaceRead, "to read drafts"), sdk.Need(toolabi.FuncWorkspaceWrite, "to write them"),
		sdk.Need(toolabi.FuncWorkspaceList, "to see what is there"), sdk.Need(toolabi.FuncWorkspaceRemove, "to clean up"))
	sdk.Register(sdk.Tool[Order, Desk]{Name: "edit", Description: "Writes a draft, and writes it again.", Run: edit})
}

func main() {}

// Order is what the file is called and what it says in the end.
type Order struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Desk is what the file says, and what lies around it.
type Desk struct {
	Text  string   `json:"text"`
	Files []string `json:"files"`
}

func edit(_ context.Context, in Order) (d Desk, err error) {
	draft, err := sdk.WorkspaceWrite(toolabi.WorkspaceWriteRequest{Path: in.Path, Body: []byte("draft of " + in.Text)})
	if err != nil {
		return d, err
	}
	copied := in.Path + ".draft"
	if _, err := sdk.WorkspaceWrite(toolabi.WorkspaceWriteRequest{Path: copied, Artifact: draft.Artifact}); err != nil {
		return d, err
	}
	if _, err := sdk.WorkspaceWrite(toolabi.WorkspaceWriteRequest{Path: in.Path, Body: []byte(in.Text), Expect: draft.Artifact}); err != nil {
		return d, err
	}
	_, err = sdk.WorkspaceWrite(toolabi.WorkspaceWriteRequest{Path: in.Path, Body: []byte("lost"), Expect: draft.Artifact})
	if !errors.Is(err, toolabi.Conflict) {
		return d, fmt.Errorf("want a conflict, got %w", err)
	}
	if err := sdk.WorkspaceRemove(copied); err != nil {
		return d, err
	}
	got, err := sdk.WorkspaceRead(toolabi.WorkspaceReadRequest{Path: in.Path})
	if err != nil {
		return d, err
	}
	d.Text = string(got.Body)
	list, err := sdk.WorkspaceList(toolabi.WorkspaceListRequest{Recursive: true})
	for _, f := range list.Files {
		d.Files = append(d.Files, f.Path)
	}
	return d, err
}
