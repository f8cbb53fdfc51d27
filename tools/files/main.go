// Command files is a module of wrun: it brings files into the workspace and out of it, writes reports there, and tidies up.
//
// It works with whole files, and is no editor.
package main

import (
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("files", "0.1.0", "Fetches, publishes and tidies up files, and writes reports.",
		sdk.Need(toolabi.FuncHTTPFetch, "to fetch the file that it is told to"),
		sdk.Need(toolabi.FuncHTTPSend, "to publish the artifact that it is told to"),
		sdk.Need(toolabi.FuncArtifactPut, "to keep what a report was made of"),
		sdk.Need(toolabi.FuncArtifactGet, "to read what a report is to be made of"),
		sdk.Need(toolabi.FuncArtifactStat, "to look for an artifact before it is made use of"),
		sdk.Need(toolabi.FuncWorkspaceRead, "to see whether a person changed a report"),
		sdk.Need(toolabi.FuncWorkspaceWrite, "to write what was fetched, and reports"),
		sdk.Need(toolabi.FuncWorkspaceList, "to find what can be tidied up"),
		sdk.Need(toolabi.FuncWorkspaceRemove, "to remove what a person agreed to"),
		sdk.Need(toolabi.FuncToolCall, "to render a report's own template", renderer),
	)
	again := sdk.Retry{Attempts: 3, Backoff: time.Second}
	sdk.Register(sdk.Tool[FetchIn, FetchOut]{
		Name: "fetch", Description: "Downloads a file into the workspace, of up to 1 GiB.", Idempotency: sdk.Idempotent,
		Timeout: 6 * time.Minute, Retry: again, Run: fetch,
	})
	sdk.Register(sdk.Tool[PublishIn, PublishOut]{
		Name: "publish", Description: "Puts an artifact of the run at a URL. May be repeated: the same bytes are put there again.",
		Idempotency: sdk.Idempotent, Timeout: 6 * time.Minute, Retry: again, Run: publish,
	})
	sdk.Register(sdk.Tool[ReportIn, ReportOut]{
		Name: "report", Description: "Writes a report in Markdown, unless a person changed the one that is there.", Idempotency: sdk.Idempotent, Run: report,
	})
	sdk.Register(sdk.Tool[TidyIn, TidyOut]{
		Name: "tidy", Description: "Removes files of the workspace after a person agreed.", Idempotency: sdk.Idempotent, Destructive: true, Run: tidy,
	})
}

func main() {}
