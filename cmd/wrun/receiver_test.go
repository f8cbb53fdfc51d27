package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// receiverCommand is a receiver of telemetry that behaves badly, whose address is in $RECEIVER: receiver hangs, receiver fails (it answers
// 500), receiver resets, receiver gone (nobody listens). "receiver counts" counts in $RECEIVED what takes it, and answers.
func receiverCommand(ts *testscript.TestScript, neg bool, args []string) {
	var n atomic.Int64
	released := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch args[0] {
		case "hangs":
			select {
			case <-r.Context().Done():
			case <-released:
			}
		case "fails":
			http.Error(w, "no", http.StatusInternalServerError)
		case "resets":
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}
		case "counts":
			n.Add(1)
			os.WriteFile(ts.MkAbs("received"), []byte(strings.Repeat("x", int(n.Load()))), 0o600)
		}
	}))
	ts.Setenv("RECEIVER", s.URL)
	if args[0] == "gone" {
		s.Close()
		return
	}
	ts.Defer(func() { close(released); s.Close() })
}

// scrapes reads a server's metrics: scrapes FILE-WITH-ITS-ADDRESS REGEXP. The address is in the first line that has one.
func scrapes(ts *testscript.TestScript, neg bool, args []string) {
	address := regexp.MustCompile(`http://\S+/metrics`).FindString(ts.ReadFile(args[0]))
	req, err := http.NewRequest(http.MethodGet, address, nil)
	ts.Check(err)
	if len(args) > 2 {
		req.Host = args[2]
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	var b strings.Builder
	ts.Check(resp.Write(&b))
	if !regexp.MustCompile("(?m)" + args[1]).MatchString(b.String()) {
		ts.Fatalf("no match for %s in:\n%s", args[1], b.String())
	}
}

// Every variable that the command reads for its telemetry is in docs/telemetry.md, and no other.
func TestTheVariablesOfTelemetryAreDocumented(t *testing.T) {
	variables := func(file string) []string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`OTEL_[A-Z_]+[A-Z]|TRACEPARENT|WRUN_TELEMETRY_[A-Z_]+`).FindAllString(string(text), -1)
		slices.Sort(found)
		return slices.Compact(found)
	}
	code := variables("telemetry.go")
	code = slices.DeleteFunc(code, func(v string) bool { return v == "OTEL_EXPORTER_OTLP" })
	for _, signal := range []string{"TRACES", "METRICS"} {
		code = append(code, "OTEL_"+signal+"_EXPORTER")
		for _, of := range []string{"ENDPOINT", "HEADERS", "PROTOCOL"} {
			code = append(code, "OTEL_EXPORTER_OTLP_"+signal+"_"+of, "OTEL_EXPORTER_OTLP_"+of)
		}
	}
	slices.Sort(code)
	if page := variables("../../docs/telemetry.md"); !slices.Equal(slices.Compact(code), page) {
		t.Errorf("the code reads %q,\nthe page has %q", code, page)
	}
}
