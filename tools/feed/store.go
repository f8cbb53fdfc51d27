package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// The store has two kinds of keys, with the beginning of a digest in place of whatever a server writes:
//
//	entry/FEED/ENTRY   an entry that was taken, by its id
//	state/FEED         how the feed was when all of it had been returned, by its URL

func entryKey(url string, id name) string { return entryPrefix(url) + short(string(id), 32) }

// entryPrefix is what the keys of a feed's entries begin with; those of all feeds, for no URL.
func entryPrefix(url string) string {
	if url == "" {
		return "entry/"
	}
	return "entry/" + short(url, 16) + "/"
}

func stateKey(url string) string { return "state/" + short(url, 16) }

// short is the beginning of the digest of a text, n digits long: enough for feeds that an operator chose, and for entries of one feed.
func short(text string, n int) string { return toolabi.DigestOf([]byte(text)).String()[:n] }

// Taken is an entry that was taken.
type Taken struct {
	Feed  string `json:"feed" doc:"the feed's URL"`
	ID    name   `json:"id" doc:"the feed's name for the entry"`
	Title string `json:"title,omitempty"`
	At    string `json:"at" doc:"when it was taken, RFC 3339, UTC"`
}

func isTaken(url string, e Entry) (bool, error) {
	reply, err := sdk.KVGet(toolabi.KVGetRequest{Key: entryKey(url, e.ID)})
	return reply.Found, err
}

// takeOne takes an entry. Of several runs that try at once one does.
func takeOne(url string, e Entry, now time.Time) (bool, error) {
	value, err := json.Marshal(Taken{Feed: url, ID: e.ID, Title: toolabi.CutText(e.Title, 200), At: now.Format(time.RFC3339)})
	if err != nil {
		return false, err
	}
	_, err = sdk.KVCAS(toolabi.KVCASRequest{Key: entryKey(url, e.ID), Value: value}) // expects that it is not there
	if errors.Is(err, toolabi.Conflict) {
		return false, nil
	}
	return err == nil, err
}

// state is how a feed was when everything in it had been returned.
type state struct {
	ETag string `json:"etag,omitempty"`

	version uint64
}

func readState(url string) (s state, err error) {
	reply, err := sdk.KVGet(toolabi.KVGetRequest{Key: stateKey(url)})
	if err != nil {
		return s, err
	}
	if json.Unmarshal(reply.Value, &s) != nil {
		s = state{} // the feed is read as a whole then, which is always right
	}
	s.version = reply.Version
	return s, nil
}

// keep writes down that all of the feed was returned as it is under an etag. That spares reading, and nothing else, so that it may
// fail; and it must fail where an entry was forgotten since the state was read.
func (s state) keep(url, etag string) {
	if etag == s.ETag || len(etag) > maxID {
		return
	}
	value, err := json.Marshal(state{ETag: etag})
	if err == nil {
		_, err = sdk.KVCAS(toolabi.KVCASRequest{Key: stateKey(url), Value: value, Expect: s.version})
	}
	if err != nil {
		sdk.Logf(toolabi.LevelInfo, "the feed will be read as a whole next time: %v", err)
	}
}
