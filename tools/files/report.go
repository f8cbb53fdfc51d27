package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// ReportIn is the input of report. What it is made of comes either as items or as an artifact.
type ReportIn struct {
	Path     string `json:"path" doc:"where to write it" minLength:"1"`
	Title    string `json:"title" doc:"the heading" minLength:"1" maxLength:"300"`
	Items    []Item `json:"items,omitempty" doc:"what it lists"`
	Artifact string `json:"artifact,omitempty" doc:"an artifact of the run that holds the items as JSON, in place of them" pattern:"^[0-9a-f]{64}$"`
	Template string `json:"template,omitempty" doc:"a template of Go for the text below the heading, with title, date and items; text.render renders it"`
}

// Item is one line of a report. It has the fields of an entry of a feed, so that a plan can hand these over.
type Item struct {
	ID        string `json:"id,omitempty"`
	URL       string `json:"url,omitempty"`
	Title     string `json:"title,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Published string `json:"date_published,omitempty"`
}

// ReportOut is the output of report.
type ReportOut struct {
	Path     string `json:"path"`
	Artifact string `json:"artifact" doc:"the report as it was written, an artifact of the run"`
	Size     uint64 `json:"size" doc:"its length in bytes"`
	Source   string `json:"source" doc:"what it was made of, as JSON, an artifact of the run"`
}

func report(_ context.Context, in ReportIn) (ReportOut, error) {
	items, source, err := gather(in)
	if err != nil {
		return ReportOut{}, err
	}
	now, err := sdk.Clock()
	if err != nil {
		return ReportOut{}, err
	}
	expect, err := mayReplace(in.Path)
	if err != nil {
		return ReportOut{}, err
	}
	text, err := compose(in, items, now.Format("2006-01-02"))
	if err != nil {
		return ReportOut{}, err
	}
	file, err := sdk.WorkspaceWrite(toolabi.WorkspaceWriteRequest{Path: in.Path, Body: seal(text), Expect: expect})
	if errors.Is(err, toolabi.Conflict) {
		return ReportOut{}, edited(in.Path)
	}
	return ReportOut{Path: file.Path, Artifact: file.Artifact, Size: file.Size, Source: source}, err
}

// gather returns what the report is made of, and the artifact that it is kept in.
func gather(in ReportIn) (items []Item, artifact string, err error) {
	if in.Artifact == "" {
		b, err := json.MarshalIndent(append([]Item{}, in.Items...), "", "\t")
		if err != nil {
			return nil, "", err
		}
		kept, err := sdk.ArtifactPut(toolabi.ArtifactPutRequest{Body: b, Name: "items.json"})
		return in.Items, kept.Artifact, err
	}
	size, err := have(in.Artifact)
	switch {
	case err != nil:
		return nil, "", err
	case len(in.Items) > 0:
		return nil, "", sdk.Fail("two_sources", "items and an artifact: want one of them")
	case size > toolabi.MaxArtifactPart:
		return nil, "", sdk.Fail("too_long", fmt.Sprintf("an artifact of %d bytes, at most %d are read", size, toolabi.MaxArtifactPart))
	}
	reply, err := sdk.ArtifactGet(toolabi.ArtifactGetRequest{Artifact: in.Artifact})
	if err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal(reply.Body, &items); err != nil {
		return nil, "", sdk.Fail("unreadable", "the artifact is no list of items: "+err.Error())
	}
	return items, in.Artifact, nil
}

// renderer is the tool that renders templates.
const renderer = "text.render"

// compose writes the text of a report, without its seal.
func compose(in ReportIn, items []Item, date string) (string, error) {
	heading := fmt.Sprintf("# %s\n\n%s\n\n", markdown(in.Title), date)
	if in.Template == "" {
		return heading + list(items), nil
	}
	type data struct {
		Title string `json:"title"`
		Date  string `json:"date"`
		Items []Item `json:"items"`
	}
	var out struct {
		Text string `json:"text"`
	}
	err := sdk.CallTool(renderer, struct {
		Template string `json:"template"`
		Data     data   `json:"data"`
	}{in.Template, data{in.Title, date, append([]Item{}, items...)}}, &out)
	return heading + strings.TrimRight(out.Text, "\n") + "\n", err
}

func list(items []Item) string {
	if len(items) == 0 {
		return "Nothing new.\n"
	}
	var b strings.Builder
	for _, it := range items {
		title := markdown(it.Title)
		if title == "" {
			title = markdown(it.ID)
		}
		if strings.HasPrefix(it.URL, "https://") || strings.HasPrefix(it.URL, "http://") {
			title = "[" + title + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "", "\r", "").Replace(it.URL) + ">)"
		}
		b.WriteString("* " + title)
		if s := markdown(it.Summary); s != "" {
			b.WriteString(": " + s)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// markdown is text on one line in which nothing is markup.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range toolabi.CleanLine(s, 2000) {
		if strings.ContainsRune("\\`*_{}[]<>#!|~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
