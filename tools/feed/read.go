package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// feed is what was read.
type feed struct {
	Title   string  `json:"title"`
	Version string  `json:"version"`
	Entries []Entry `json:"items"`

	etag      string
	unchanged bool // since the etag that was known
}

// Entry is one entry of a feed, with the fields of JSON Feed 1.1 that are made use of.
type Entry struct {
	ID        name   `json:"id" doc:"the feed's name for it"`
	URL       string `json:"url,omitempty"`
	Title     string `json:"title,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Published string `json:"date_published,omitempty" doc:"as the feed says it, RFC 3339"`
}

// name is the id of an entry. Feeds are to write text and some write numbers, which are taken as they are written.
type name string

func (n *name) UnmarshalJSON(b []byte) error {
	var text string
	var number json.Number
	if json.Unmarshal(b, &text) == nil {
		*n = name(text)
		return nil
	}
	if err := json.Unmarshal(b, &number); err != nil {
		return fmt.Errorf("an id that is neither text nor a number: %.40s", b)
	}
	*n = name(number)
	return nil
}

// read reads a feed, and waits as the server asks for.
func read(url, etag string) (feed, error) {
	req := toolabi.HTTPRequest{URL: url, Redirects: 3, Decompress: true, Headers: []toolabi.Header{
		{Name: "Accept", Value: "application/feed+json, application/json;q=0.9"},
	}}
	if etag != "" {
		req.Headers = append(req.Headers, toolabi.Header{Name: "If-None-Match", Value: etag})
	}
	locked, err := sdk.SecretHas(tokenName)
	if err != nil {
		return feed{}, err
	}
	if locked {
		req.Headers = append(req.Headers, toolabi.Header{Name: "Authorization", Value: "Bearer " + toolabi.SecretRef(tokenName)})
	}
	reply, err := patient(req)
	if err != nil {
		return feed{}, err
	}
	switch {
	case reply.Status == http.StatusNotModified && etag != "":
		return feed{unchanged: true}, nil
	case reply.Status != http.StatusOK:
		return feed{}, refused(reply)
	}
	return parse(reply)
}

const (
	// attempts is how often a server is asked that wants to be left alone for a while.
	attempts = 3
	// patience is how long it is left alone at most.
	patience = time.Hour
)

// patient asks again after as long as a server wants to be left alone. The run is suspended meanwhile, if that is long. What it
// does not wait for is the caller's to wait for, and the error says how long.
func patient(req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	for n := 1; ; n++ {
		reply, err := sdk.HTTPFetch(req)
		busy := reply.Status == http.StatusTooManyRequests || reply.Status == http.StatusServiceUnavailable
		ms := reply.RetryAfterMS()
		if err != nil || !busy {
			return reply, err
		}
		if n == attempts || ms == 0 || ms > uint64(patience/time.Millisecond) {
			e := refused(reply)
			e.Retry, e.RetryAfterMS = toolabi.RetryAfter, max(ms, 1000)
			return reply, e
		}
		wait := time.Duration(ms) * time.Millisecond
		sdk.Logf(toolabi.LevelInfo, "the server wants to be left alone for %s", wait)
		if err := sdk.Sleep(wait); err != nil {
			return reply, err
		}
	}
}

func refused(reply toolabi.HTTPReply) *toolabi.Error {
	return sdk.Fail("refused", fmt.Sprintf("the feed's server replied with status %d", reply.Status))
}

const (
	maxEntries = 1000 // of a feed that are looked at
	maxID      = 1024 // bytes
	maxText    = 4096 // bytes of each field
)

// parse reads a reply. What is too long of an entry is cut, and what cannot be told apart from others is left out.
func parse(reply toolabi.HTTPReply) (feed, error) {
	f := feed{etag: reply.Header("Etag")}
	if err := json.Unmarshal(reply.Body, &f); err != nil {
		return feed{}, sdk.Fail("unreadable", "the reply is no JSON feed: "+err.Error())
	}
	if !strings.HasPrefix(f.Version, "https://jsonfeed.org/version/1") {
		return feed{}, sdk.Fail("unreadable", fmt.Sprintf("the reply is no JSON feed of version 1: its version is %.80q", f.Version))
	}
	all := f.Entries
	f.Entries = nil
	for _, e := range all[:min(len(all), maxEntries)] {
		if e.ID == "" || len(e.ID) > maxID {
			sdk.Logf(toolabi.LevelWarn, "an entry without an id that can be kept is left out: %s", toolabi.CleanLine(e.Title, 80))
			continue
		}
		for _, text := range []*string{&e.URL, &e.Title, &e.Summary, &e.Published} {
			*text = toolabi.CutText(*text, maxText)
		}
		f.Entries = append(f.Entries, e)
	}
	f.Title = toolabi.CutText(f.Title, maxText)
	return f, nil
}
