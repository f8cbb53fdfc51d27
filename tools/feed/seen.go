package main

import (
	"context"
	"encoding/json"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// SeenIn is the input of seen.
type SeenIn struct {
	URL   string `json:"url,omitempty" doc:"the feed; all of them when missing" maxLength:"4096"`
	After string `json:"after,omitempty" doc:"the next of the answer before" maxLength:"512"`
	Limit uint32 `json:"limit,omitempty" doc:"how many are listed at most; 100 when missing" minimum:"1" maximum:"1000"`
}

// SeenOut is the output of seen.
type SeenOut struct {
	Entries []Taken `json:"entries" doc:"in an order that means nothing and stays the same"`
	Next    string  `json:"next,omitempty" doc:"where to go on, when there are others"`
}

func seen(_ context.Context, in SeenIn) (SeenOut, error) {
	reply, err := sdk.KVList(toolabi.KVListRequest{Prefix: entryPrefix(in.URL), After: in.After, Limit: in.Limit, Values: true})
	if err != nil {
		return SeenOut{}, err
	}
	out := SeenOut{Entries: []Taken{}}
	for _, item := range reply.Items {
		var t Taken
		if err := json.Unmarshal(item.Value, &t); err != nil {
			return SeenOut{}, sdk.Fail("not_ours", "the store has a key that this tool did not write: "+toolabi.CleanLine(item.Key, 100))
		}
		out.Entries = append(out.Entries, t)
	}
	if reply.More && len(reply.Items) > 0 {
		out.Next = reply.Items[len(reply.Items)-1].Key
	}
	return out, nil
}

// ForgetIn is the input of forget.
type ForgetIn struct {
	URL string   `json:"url,omitempty" doc:"the feed; the setting url when missing" maxLength:"4096"`
	IDs []string `json:"ids" doc:"the feed's names for the entries"`
}

// ForgetOut is the output of forget.
type ForgetOut struct {
	Forgotten int `json:"forgotten" doc:"how many of them had been returned"`
}

// forget forgets first and lets the feed be read afresh then: a run that reads the feed in between finds that its state has changed,
// and does not write down that everything was returned.
func forget(_ context.Context, in ForgetIn) (ForgetOut, error) {
	url, err := feedURL(in.URL)
	if err != nil {
		return ForgetOut{}, err
	}
	out := ForgetOut{}
	for _, id := range in.IDs {
		reply, err := sdk.KVDelete(toolabi.KVDeleteRequest{Key: entryKey(url, name(id))})
		if err != nil {
			return out, err
		}
		if reply.Found {
			out.Forgotten++
		}
	}
	sdk.Logf(toolabi.LevelInfo, "forgot %d entries of %s", out.Forgotten, url)
	_, err = sdk.KVPut(toolabi.KVPutRequest{Key: stateKey(url), Value: []byte(`{}`)})
	return out, err
}
