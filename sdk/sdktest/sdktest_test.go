package sdktest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// steps are what a tool can be told to do.
var steps = map[string]func() error{
	"nothing": func() error { return nil },
	"log":     func() error { sdk.Log(toolabi.LevelInfo, "x"); return nil },
	"clock":   func() error { _, err := sdk.Clock(); return err },
	"random":  func() error { _, err := sdk.Random(1); return err },
	"fetch":   func() error { _, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: "https://host.test/"}); return err },
	"send": func() error {
		_, err := sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: "https://host.test/"})
		return err
	},
	"approve": func() error { _, err := sdk.Approve(toolabi.ApproveRequest{Text: "Go on?"}); return err },
	"sleep":   func() error { return sdk.Sleep(time.Second) },
	"call":    func() error { return sdk.CallTool("other.tool", nil, nil) },
}

type todo struct {
	Step string `json:"step"`
}

type done struct{}

type status struct {
	Status uint16 `json:"status" maximum:"599"`
}

func init() {
	// The module asks for http_send and not for http_fetch.
	needs := []sdk.Option{
		sdk.Need(toolabi.FuncHTTPSend, "to send"), sdk.Need(toolabi.FuncToolCall, "to call"),
		sdk.Need(toolabi.FuncWorkspaceRead, "to read"), sdk.Need(toolabi.FuncWorkspaceWrite, "to write"),
		sdk.Need(toolabi.FuncWorkspaceList, "to list"), sdk.Need(toolabi.FuncWorkspaceRemove, "to remove"),
	}
	for _, name := range storeFuncs {
		needs = append(needs, sdk.Need(name, "to keep things"))
	}
	sdk.Module("sdktest-test", "1.0.0", "for tests", needs...)
	sdk.Register(sdk.Tool[done, done]{Name: "stores", Run: runStores})
	for name, promise := range map[string]toolabi.Idempotency{"pure": sdk.Pure, "reads": sdk.ReadOnly, "sends": ""} {
		sdk.Register(sdk.Tool[todo, done]{Name: name, Idempotency: promise, Run: func(_ context.Context, in todo) (done, error) {
			return done{}, steps[in.Step]()
		}})
	}
	sdk.Register(sdk.Tool[done, status]{Name: "status", Run: func(context.Context, done) (status, error) {
		reply, err := sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: "https://host.test/"})
		return status{reply.Status}, err
	}})
	sdk.Register(sdk.Tool[fileAsk, fileTold]{Name: "files", Run: useFiles})
	sdk.Register(sdk.Tool[toolabi.HTTPRequest, toolabi.HTTPReply]{Name: "exchange", Run: exchange})
}

func exchange(_ context.Context, in toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	return sdk.HTTPSend(in)
}

// recorder is a testing.TB that keeps the failures it is told.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Errorf(format string, a ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, a...))
}

// full is a world that has everything.
func full() *sdktest.World {
	return &sdktest.World{
		Clock:  time.Now,
		Random: func(n int) []byte { return make([]byte, n) },
		HTTP:   http.NotFoundHandler(),
		Approve: func(toolabi.ApproveRequest) (toolabi.ApproveReply, error) {
			return toolabi.ApproveReply{By: "mia"}, nil
		},
		Tools: map[string]func([]byte) ([]byte, error){"other.tool": func([]byte) ([]byte, error) { return []byte("{}"), nil }},
	}
}

func TestWhatAToolMayUse(t *testing.T) {
	for _, c := range []struct {
		tool, step string
		world      *sdktest.World
		code       toolabi.Code // 0 for success
		failure    string       // what the test is told, "" for nothing
	}{
		{"pure", "log", nil, 0, ""},
		{"pure", "clock", full(), toolabi.Denied, ""},
		{"pure", "send", full(), toolabi.Denied, ""},
		{"reads", "clock", full(), 0, ""},
		{"reads", "random", full(), 0, ""},
		{"reads", "send", full(), toolabi.Denied, ""},
		{"sends", "send", full(), 0, ""},
		{"sends", "fetch", full(), toolabi.Denied, "uses http_fetch, which its module does not Need"},
		{"pure", "call", full(), toolabi.Denied, ""},
		{"reads", "approve", full(), toolabi.Denied, ""},
		{"reads", "sleep", full(), toolabi.Denied, ""},
		{"reads", "call", full(), 0, ""},
		{"sends", "approve", full(), 0, ""},
		{"sends", "sleep", full(), 0, ""},
		{"sends", "approve", new(sdktest.World), toolabi.Unsupported, "uses approve, which the test's world does not have"},
		{"sends", "sleep", new(sdktest.World), toolabi.Unsupported, "uses sleep, which"},
		{"sends", "call", new(sdktest.World), toolabi.Unsupported, "uses tool_call, which"},
		{"reads", "clock", nil, toolabi.Unsupported, "uses clock, which the test's world does not have"},
		{"reads", "random", new(sdktest.World), toolabi.Unsupported, "uses random, which"},
		{"sends", "send", new(sdktest.World), toolabi.Unsupported, "uses http_send, which"},
	} {
		r := &recorder{TB: t}
		_, err := sdktest.Call(r, c.world, c.tool, `{"step":"`+c.step+`"}`)
		if c.code == 0 && err != nil || c.code != 0 && !errors.Is(err, c.code) {
			t.Errorf("%s uses %s: got %v, want code %d", c.tool, c.step, err, c.code)
		}
		told := strings.Join(r.failures, "; ")
		if !strings.Contains(told, c.failure) || c.failure == "" && told != "" {
			t.Errorf("%s uses %s: the test was told %q, want %q", c.tool, c.step, told, c.failure)
		}
	}
}

func TestOutputThatDoesNotMatchItsSchemaIsBadOutput(t *testing.T) {
	w := &sdktest.World{Exchange: func(string, toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
		return toolabi.HTTPReply{Status: 999}, nil
	}}
	if _, err := sdktest.Call(t, w, "status", `{}`); !errors.Is(err, toolabi.BadOutput) {
		t.Errorf("got %v, want bad_output", err)
	}
}

func TestInputIsJudgedAsInASandbox(t *testing.T) {
	for _, input := range []string{``, `[]`, `{"step":1}`, `{"step":"nothing","more":1}`} {
		if _, err := sdktest.Call(t, nil, "pure", input); !errors.Is(err, toolabi.BadInput) {
			t.Errorf("input %q: got %v, want bad_input", input, err)
		}
	}
}

func TestExchangeWithAHandler(t *testing.T) {
	var keys []string
	w := &sdktest.World{HTTP: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		w.Header().Add("B", "2")
		w.Header().Add("B", "1")
		w.Header().Add("a", "caf\xe9")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL, r.Header.Get("X-One"), r.Proto)
	})}
	const input = `{"Method":"PUT","URL":"https://host.test:1/x?y=z","Headers":[{"Name":"x-one","Value":"v"}],"Body":"","TimeoutMS":0,"Redirects":0,"Decompress":false,"BodyArtifact":"","ToArtifact":0}`
	var out string
	for range 2 {
		var err error
		if out, err = sdktest.Call(t, w, "exchange", input); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"Status":418,"Headers":[{"Name":"A","Value":"caf` + "\uFFFD" + `"},{"Name":"B","Value":"2"},{"Name":"B","Value":"1"}],` +
		`"Body":"UFVUIGh0dHBzOi8vaG9zdC50ZXN0OjEveD95PXogdiBIVFRQLzEuMQ==","Artifact":"","Size":0,"URL":""}`
	if out != want {
		t.Errorf("got %s, want %s", out, want)
	}
	if len(keys) != 2 || keys[0] == "" || keys[0] == keys[1] {
		t.Errorf("the requests carried the keys %q, want two different ones", keys)
	}
	if len(w.Requests) != 2 || w.Requests[0].URL != "https://host.test:1/x?y=z" {
		t.Errorf("the world saw %+v", w.Requests)
	}
}

func TestRequestsThatTheHostWouldRefuse(t *testing.T) {
	ok := toolabi.HTTPRequest{Method: "POST", URL: "https://host.test/"}
	with := func(change func(*toolabi.HTTPRequest)) toolabi.HTTPRequest {
		req := ok
		change(&req)
		return req
	}
	header := func(name string) toolabi.HTTPRequest {
		return with(func(r *toolabi.HTTPRequest) { r.Headers = []toolabi.Header{{Name: name, Value: "v"}} })
	}
	for _, c := range []struct {
		req  toolabi.HTTPRequest
		code toolabi.Code
	}{
		{with(func(r *toolabi.HTTPRequest) { r.Method = "" }), toolabi.Invalid},
		{with(func(r *toolabi.HTTPRequest) { r.Method = "GET" }), toolabi.Invalid},
		{with(func(r *toolabi.HTTPRequest) { r.URL = "/charges" }), toolabi.Invalid},
		{with(func(r *toolabi.HTTPRequest) { r.URL = "file:///etc/passwd" }), toolabi.Invalid},
		{with(func(r *toolabi.HTTPRequest) { r.URL = "https://a:b@host.test/" }), toolabi.Invalid},
		{with(func(r *toolabi.HTTPRequest) { r.URL = "https://host.test/#x" }), toolabi.Invalid},
		{with(func(r *toolabi.HTTPRequest) { r.URL = "https://host.test/%zz" }), toolabi.Invalid},
		{with(func(r *toolabi.HTTPRequest) { r.TimeoutMS = toolabi.MaxHTTPTimeout + 1 }), toolabi.Invalid},
		{header("idempotency-KEY"), toolabi.Invalid},
		{header("Proxy-Authorization"), toolabi.Invalid},
		{header(strings.Repeat("x", toolabi.MaxHTTPHeaderBytes)), toolabi.TooLarge},
		{with(func(r *toolabi.HTTPRequest) { r.Body = make([]byte, toolabi.MaxHTTPBody+1) }), toolabi.TooLarge},
	} {
		w := full()
		steps["custom"] = func() error { _, err := sdk.HTTPSend(c.req); return err }
		if _, err := sdktest.Call(t, w, "sends", `{"step":"custom"}`); !errors.Is(err, c.code) {
			t.Errorf("%s %.60s: got %v, want %s", c.req.Method, c.req.URL, err, c.code)
		}
		if len(w.Requests) != 0 {
			t.Errorf("%s %.60s reached the world", c.req.Method, c.req.URL)
		}
	}
}

func TestCallsOfParallelTestsKeepTheirWorlds(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			w := &sdktest.World{Clock: func() time.Time { return time.Unix(int64(i), 0) }}
			for range 10 {
				if _, err := sdktest.Call(t, w, "reads", `{"step":"log"}`); err != nil {
					t.Error(err)
				}
			}
			if len(w.Logs) != 10 {
				t.Errorf("world %d has %d lines, want 10", i, len(w.Logs))
			}
		})
	}
}

func TestWorldEndsWithTheCall(t *testing.T) {
	if _, err := sdktest.Call(t, full(), "reads", `{"step":"clock"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := sdk.Clock(); !errors.Is(err, toolabi.Unsupported) {
		t.Errorf("after the call: got %v, want unsupported", err)
	}
}

func TestManifestIsTheModules(t *testing.T) {
	m := sdktest.Manifest(t)
	want := []toolabi.Capability{
		{Name: toolabi.FuncHTTPSend, Reason: "to send"}, {Name: toolabi.FuncToolCall, Reason: "to call"},
		{Name: toolabi.FuncWorkspaceRead, Reason: "to read"}, {Name: toolabi.FuncWorkspaceWrite, Reason: "to write"},
		{Name: toolabi.FuncWorkspaceList, Reason: "to list"}, {Name: toolabi.FuncWorkspaceRemove, Reason: "to remove"},
	}
	for _, name := range storeFuncs {
		want = append(want, toolabi.Capability{Name: name, Reason: "to keep things"})
	}
	if m.Name != "sdktest-test" || len(m.Tools) != 7 || !reflect.DeepEqual(m.Capabilities, want) {
		t.Errorf("got %+v", m)
	}
}
