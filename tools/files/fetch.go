package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// FetchIn is the input of fetch.
type FetchIn struct {
	URL      string `json:"url" doc:"where the file is" minLength:"1"`
	Path     string `json:"path,omitempty" doc:"where to write it; by the last part of the URL when missing"`
	SHA256   string `json:"sha256,omitempty" doc:"what the file's SHA-256 has to be, in lower-case hexadecimal" pattern:"^[0-9a-f]{64}$"`
	Replace  bool   `json:"replace,omitempty" doc:"whether a file that is there already may be replaced by another one"`
	MaxBytes uint64 `json:"max_bytes,omitempty" doc:"how long the file may be; 64 MiB when missing" minimum:"1" maximum:"1073741824"`
}

// FetchOut is the output of fetch.
type FetchOut struct {
	Path     string `json:"path" doc:"where it is"`
	Artifact string `json:"artifact" doc:"the file's SHA-256, an artifact of the run"`
	Size     uint64 `json:"size" doc:"its length in bytes"`
	From     string `json:"from,omitempty" doc:"where redirects led"`
}

// defaultMax is how long a file may be when nobody says, in bytes.
const defaultMax = 64 << 20

// fetchMS is how long a download may take, in milliseconds.
const fetchMS = 300_000

// fetch streams a file into an artifact, which is in the file system whole or not at all, and writes that into the workspace. None
// of its bytes pass through the tool.
func fetch(_ context.Context, in FetchIn) (FetchOut, error) {
	to, err := destination(in)
	if err != nil {
		return FetchOut{}, err
	}
	if in.MaxBytes == 0 {
		in.MaxBytes = defaultMax
	}
	sdk.Progress(0, 2, "fetching "+to)
	reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: in.URL, Redirects: toolabi.MaxRedirects, TimeoutMS: fetchMS, ToArtifact: in.MaxBytes})
	switch {
	case err != nil:
		return FetchOut{}, err
	case reply.Status != http.StatusOK:
		return FetchOut{}, answeredNo(reply)
	case in.SHA256 != "" && in.SHA256 != reply.Artifact:
		return FetchOut{}, sdk.Fail("digest", fmt.Sprintf("the file's SHA-256 is %s and not %s; nothing was written", reply.Artifact, in.SHA256))
	}
	sdk.Progress(1, 2, "writing "+to)
	write := toolabi.WorkspaceWriteRequest{Path: to, Artifact: reply.Artifact, Expect: toolabi.WorkspaceAbsent}
	if in.Replace {
		write.Expect = ""
	}
	file, err := sdk.WorkspaceWrite(write)
	if errors.Is(err, toolabi.Conflict) {
		return FetchOut{}, sdk.Fail("exists", to+" is there already, and is another file: move it away, name another path, or say replace")
	}
	return FetchOut{Path: file.Path, Artifact: file.Artifact, Size: file.Size, From: reply.URL}, err
}

// destination is the path that is meant. A URL that ends in no name gets one that no other download has.
func destination(in FetchIn) (string, error) {
	if in.Path != "" {
		if err := toolabi.CheckWorkspacePath(in.Path); err != nil {
			return "", sdk.Fail("path", err.Error())
		}
		return in.Path, nil
	}
	u, err := url.Parse(in.URL)
	if err != nil {
		return "", sdk.Fail("url", "it cannot be understood")
	}
	if name := path.Base(u.Path); toolabi.IsWorkspaceName(name) {
		return name, nil
	}
	b, err := sdk.Random(8)
	return "download-" + hex.EncodeToString(b), err
}

// answeredNo is the failure for a status that is not the one that was hoped for. Where the server had trouble of its own it may be
// asked again.
func answeredNo(reply toolabi.HTTPReply) *toolabi.Error {
	e := sdk.Fail("refused", fmt.Sprintf("the server replied with status %d", reply.Status))
	if reply.Status == http.StatusTooManyRequests || reply.Status >= 500 {
		e.Retry, e.RetryAfterMS = toolabi.RetryAfter, max(1000, reply.RetryAfterMS())
	}
	return e
}
