// Command upload is a module of wrun: it brings a table into an archive in parts, and says how far it has come.
package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("upload", "1.0.0", "Brings tables into an archive.",
		sdk.Need(toolabi.FuncWorkspaceRead, "to read the table"), sdk.Need(toolabi.FuncHTTPSend, "to put its parts into the archive"))
	sdk.Register(sdk.Tool[Table, Done]{
		Name: "rows", Description: "Puts the rows of a table into an archive.", Idempotency: sdk.Idempotent,
		Retry: sdk.Retry{Attempts: 5}, Run: rows,
	})
}

func main() {}

// Table is the input of rows.
type Table struct {
	Path string `json:"path" doc:"in the workspace, a row in a line; at most a megabyte" minLength:"1"`
	To   string `json:"to" doc:"the URL that the parts are put below" minLength:"1"`
	Rows int    `json:"rows" doc:"how many rows a part has" minimum:"1"`
}

// Done is the output of rows.
type Done struct {
	Rows  int `json:"rows"`
	Parts int `json:"parts"`
}

func rows(_ context.Context, in Table) (out Done, err error) {
	file, err := sdk.WorkspaceRead(toolabi.WorkspaceReadRequest{Path: in.Path})
	if err != nil {
		return out, err
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(file.Body, []byte("\n")), []byte("\n"))
	for out.Rows < len(lines) {
		part := lines[out.Rows:min(out.Rows+in.Rows, len(lines))]
		reply, err := sdk.HTTPSend(toolabi.HTTPRequest{
			Method: "PUT", URL: fmt.Sprintf("%s/part-%d", in.To, out.Parts), Body: bytes.Join(part, nil),
		})
		switch {
		case err != nil:
			return out, err
		case reply.Status/100 != 2:
			return out, sdk.Fail("refused", fmt.Sprintf("part %d: the archive replied with status %d", out.Parts, reply.Status))
		}
		out.Rows, out.Parts = out.Rows+len(part), out.Parts+1
		sdk.Progress(uint64(out.Rows), uint64(len(lines)), "rows are there")
	}
	return out, nil
}
