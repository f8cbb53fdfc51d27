package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/jq"
)

type modelKey struct{}

// modelCommand controls a real provider of a scripted model: model start SCRIPT [KEY] (its address is in $MODEL, KEY is the API key that it
// wants), model openai and model anthropic (from then on wrun asks it, in that protocol), model set JSON, model waits [N], model release, model
// bills N, model requests N, model replayed N. "model parrot" starts a provider instead that refuses everything with what it was
// sent as a key, and has wrun ask that one.
func modelCommand(ts *testscript.TestScript, neg bool, args []string) {
	slot := ts.Value(modelKey{}).(**fakemodel.Server)
	switch args[0] {
	case "start":
		text, err := script.Parse([]byte(ts.ReadFile(args[1])))
		ts.Check(err)
		cfg := fakemodel.Config{Script: text}
		if len(args) > 2 {
			cfg.Key = args[2]
		}
		s, err := fakemodel.Start(cfg)
		ts.Check(err)
		ts.Defer(func() { s.Close() })
		ts.Setenv("MODEL", s.URL())
		*slot = s
		return
	case "parrot":
		s := httptest.NewServer(http.HandlerFunc(parrot))
		ts.Defer(s.Close)
		askModelAt(ts, "openai", s.URL)
		return
	case "openai", "anthropic":
		askModelAt(ts, args[0], ts.Getenv("MODEL"))
		return
	}
	s := *slot
	count := func(got int) {
		if want, err := strconv.Atoi(args[1]); err != nil || got != want {
			ts.Fatalf("the model has %d %s, want %s", got, args[0], args[1])
		}
	}
	switch args[0] {
	case "set":
		b := s.Behaviour()
		ts.Check(json.Unmarshal([]byte(args[1]), &b))
		ts.Check(s.SetBehaviour(b))
	case "waits":
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		n := 1
		if len(args) > 1 {
			var err error
			n, err = strconv.Atoi(args[1])
			ts.Check(err)
		}
		ts.Check(s.WaitHanging(ctx, n))
	case "release":
		s.Release()
	case "bills":
		count(s.Count().Bills)
	case "requests":
		count(s.Count().Requests)
	case "replayed":
		count(s.Count().Replayed)
	default:
		ts.Fatalf("model: unknown word %q", args[0])
	}
}

// askModelAt has wrun ask a model at an origin.
func askModelAt(ts *testscript.TestScript, protocol, origin string) {
	ts.Setenv("WRUN_MODEL", protocol+"/scripted")
	if protocol == "openai" {
		origin += "/v1"
	}
	ts.Setenv("WRUN_MODEL_BASE_URL", origin)
}

// parrot refuses a request with what it has as a key.
func parrot(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Echo", r.Header.Get("Authorization"))
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": "no such key: " + r.Header.Get("Authorization")}})
}

// jsonCommand holds JSON against a value: json FILE EXPRESSION VALUE. FILE holds one JSON value and a line break; the expression is jq and
// sees it.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	if len(text) == 0 || text[len(text)-1] != '\n' {
		ts.Fatalf("%s does not end with a line break", args[0])
	}
	root, err := jq.Decode([]byte(text), 100)
	ts.Check(err)
	e, _, err := jq.Compile(args[1], jq.Place{})
	ts.Check(err)
	v, err := e.Value(context.Background(), root, jq.NewWork(1<<20), 1<<20)
	ts.Check(err)
	got, err := jq.Marshal(v)
	ts.Check(err)
	if string(got) != args[2] {
		ts.Fatalf("%s of %s is %s, want %s", args[1], args[0], got, args[2])
	}
}
