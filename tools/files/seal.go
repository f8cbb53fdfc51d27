package main

import (
	"bytes"
	"errors"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// A report ends in a line that Markdown does not show: the SHA-256 of all before it. So whoever comes next, in whatever run, can tell
// a report that is as a tool wrote it from one that a person changed.
const (
	sealBegin = "<!-- as written: "
	sealEnd   = " -->\n"
)

func seal(text string) []byte {
	return []byte(text + "\n" + sealBegin + toolabi.DigestOf([]byte(text)).String() + sealEnd)
}

// isSealed says whether a file is as report wrote it.
func isSealed(file []byte) bool {
	at := bytes.LastIndex(file, []byte("\n"+sealBegin))
	return at >= 0 && bytes.Equal(seal(string(file[:at])), file)
}

// mayReplace returns what the file at a path has to be for a report to be written there: the one that is there now, when a tool wrote
// it, or none. If it changes before it is written, nothing is.
func mayReplace(path string) (expect string, err error) {
	now, err := sdk.WorkspaceRead(toolabi.WorkspaceReadRequest{Path: path})
	switch {
	case errors.Is(err, toolabi.NotFound):
		return toolabi.WorkspaceAbsent, nil
	case err != nil:
		return "", err
	case now.Digest == "" || !isSealed(now.Body): // it has no digest when it is longer than any report
		return "", edited(path)
	}
	return now.Digest, nil
}

func edited(path string) error {
	return sdk.Fail("edited", path+" is not as this tool wrote it, and stays as it is: move it away, or name another path")
}
