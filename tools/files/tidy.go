package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// TidyIn is the input of tidy.
type TidyIn struct {
	Dir   string   `json:"dir,omitempty" doc:"the directory; the whole workspace when missing"`
	Match string   `json:"match" doc:"which files, by their names: a pattern such as *.tmp" minLength:"1"`
	Keep  []string `json:"keep,omitempty" doc:"paths that stay in any case"`
}

// TidyOut is the output of tidy.
type TidyOut struct {
	Removed []string `json:"removed" doc:"the files that are not there any more"`
	By      string   `json:"by,omitempty" doc:"who agreed"`
}

// maxTidy is how many files are removed in one call: as many as a person can be expected to read.
const maxTidy = 100

// tidy asks about exactly the files that it removes then: their list is recorded, however long the answer takes.
func tidy(_ context.Context, in TidyIn) (TidyOut, error) {
	out := TidyOut{Removed: []string{}}
	files, err := find(in)
	if err != nil || len(files) == 0 {
		return out, err
	}
	yes, err := sdk.Approve(question(files))
	if err != nil {
		return out, err
	}
	for i, f := range files {
		sdk.Progress(uint64(i), uint64(len(files)), f.Path)
		if err := sdk.WorkspaceRemove(f.Path); err != nil {
			return out, fmt.Errorf("remove %s, after %d of %d: %w", f.Path, i, len(files), err)
		}
		out.Removed = append(out.Removed, f.Path)
	}
	out.By = yes.By
	return out, nil
}

// find lists the files that match.
func find(in TidyIn) (files []toolabi.WorkspaceFile, err error) {
	if _, err := path.Match(in.Match, ""); err != nil {
		return nil, sdk.Fail("pattern", "the pattern cannot be understood: "+in.Match)
	}
	req := toolabi.WorkspaceListRequest{Dir: in.Dir, Recursive: true, Limit: toolabi.MaxWorkspaceList}
	for more := true; more; {
		reply, err := sdk.WorkspaceList(req)
		if err != nil {
			return nil, err
		}
		for _, f := range reply.Files {
			req.After = f.Path
			if ok, _ := path.Match(in.Match, path.Base(f.Path)); !ok || f.Kind != "file" || slices.Contains(in.Keep, f.Path) {
				continue
			}
			if files = append(files, f); len(files) > maxTidy {
				return nil, sdk.Fail("too_many", fmt.Sprintf("more than %d files match: name a directory, or a narrower pattern", maxTidy))
			}
		}
		more = reply.More && len(reply.Files) > 0
	}
	return files, nil
}

// question is what a person is asked. A list that is too long for the text is in the detail as well, where there is room for all.
func question(files []toolabi.WorkspaceFile) toolabi.ApproveRequest {
	type line struct {
		Path  string `json:"path"`
		Bytes uint64 `json:"bytes"`
	}
	var lines []line
	var names []string
	for _, f := range files {
		lines, names = append(lines, line{f.Path, f.Size}), append(names, f.Path)
	}
	req := toolabi.ApproveRequest{Text: toolabi.CutText("Remove for good: "+strings.Join(names, ", "), toolabi.MaxApproveText)}
	if detail, err := json.Marshal(lines); err == nil && len(detail) <= toolabi.MaxApproveDetail {
		req.Detail = detail
	}
	return req
}
