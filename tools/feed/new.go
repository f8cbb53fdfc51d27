package main

import (
	"context"
	"strconv"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// NewIn is the input of new.
type NewIn struct {
	URL   string `json:"url,omitempty" doc:"the feed; the setting url when missing" maxLength:"4096"`
	Limit int    `json:"limit,omitempty" doc:"how many entries are returned at most; the setting page when missing, and 20 without that" minimum:"1" maximum:"100"`
}

// NewOut is the output of new.
type NewOut struct {
	Feed    string  `json:"feed" doc:"the feed that was read"`
	Title   string  `json:"title,omitempty" doc:"what the feed calls itself"`
	Entries []Entry `json:"entries" doc:"those that were not returned before, in the order of the feed"`
	More    bool    `json:"more,omitempty" doc:"the feed has others: call again"`
}

// defaultPage is how many entries are returned at most when nobody says.
const defaultPage = 20

func newEntries(_ context.Context, in NewIn) (NewOut, error) {
	url, err := feedURL(in.URL)
	if err != nil {
		return NewOut{}, err
	}
	limit, err := page(in.Limit)
	if err != nil {
		return NewOut{}, err
	}
	before, err := readState(url)
	if err != nil {
		return NewOut{}, err
	}
	f, err := read(url, before.ETag)
	if err != nil {
		return NewOut{}, err
	}
	out := NewOut{Feed: url, Title: f.Title, Entries: []Entry{}}
	if f.unchanged {
		sdk.Logf(toolabi.LevelInfo, "%s is as it was", url)
		return out, nil
	}
	now, err := sdk.Clock()
	if err != nil {
		return NewOut{}, err
	}
	if out.Entries, out.More, err = take(url, f.Entries, limit, now); err != nil {
		return NewOut{}, err
	}
	if !out.More {
		before.keep(url, f.etag)
	}
	return out, nil
}

// take takes the first entries that nobody took, at most limit of them, and says whether there are others. From the first one on
// it does not fail: an entry that was taken is returned.
func take(url string, entries []Entry, limit int, now time.Time) (taken []Entry, more bool, err error) {
	taken = []Entry{}
	for i, e := range entries {
		sdk.Progress(uint64(i), uint64(len(entries)), e.Title)
		is, err := isTaken(url, e)
		if err == nil && !is {
			if len(taken) == limit {
				return taken, true, nil
			}
			is, err = takeOne(url, e, now)
			is = !is // another run was first
		}
		switch {
		case err != nil && len(taken) == 0:
			return nil, false, err
		case err != nil:
			sdk.Logf(toolabi.LevelWarn, "the rest of the feed has to wait: %v", err)
			return taken, true, nil
		case !is:
			taken = append(taken, e)
		}
	}
	return taken, false, nil
}

// feedURL is the feed that is meant: the one that the caller names, or else the operator's.
func feedURL(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	url, found, err := sdk.ConfigGet(keyURL)
	switch {
	case err != nil:
		return "", err
	case !found || url == "":
		return "", sdk.Fail("no_feed", "which feed? name its url in the input, or let the operator set it: --set feed.url=https://…")
	}
	return url, nil
}

// page is how many entries are returned at most.
func page(named int) (int, error) {
	if named > 0 {
		return named, nil
	}
	text, found, err := sdk.ConfigGet(keyPage)
	if err != nil || !found {
		return defaultPage, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 100 {
		return 0, sdk.Fail("bad_setting", "the setting feed.page is "+strconv.Quote(toolabi.CutText(text, 40))+", want a number of 1 to 100")
	}
	return n, nil
}
