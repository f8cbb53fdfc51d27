package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

type none struct{}

// module returns a module with one tool of the given function.
func module(run func(context.Context, []byte) ([]byte, error)) *registry.Set {
	s := new(registry.Set)
	s.Module(func(m *toolabi.Manifest) { m.Name, m.Version = "m", "1.0.0" })
	s.Add(entry("tool", run))
	return s
}

func entry(name string, run func(context.Context, []byte) ([]byte, error)) registry.Entry {
	return registry.Entry{Tool: toolabi.Tool{Name: name}, In: reflect.TypeFor[none](), Out: reflect.TypeFor[none](), Run: run}
}

func echo(_ context.Context, input []byte) ([]byte, error) { return input, nil }

func invoke(t *testing.T, s *registry.Set, req toolabi.Request) toolabi.Reply {
	t.Helper()
	raw, err := toolabi.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Invoke(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	var reply toolabi.Reply
	if err := toolabi.Decode(b, &reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestInvokeHandsTheToolItsInputAsItIs(t *testing.T) {
	input := []byte(` {"a" : 9007199254740993}`)
	reply := invoke(t, module(echo), toolabi.Request{ABI: 1, Tool: "tool", Input: input})
	if reply.Err != nil || !bytes.Equal(reply.Output, input) {
		t.Errorf("got %q, %v, want the input back", reply.Output, reply.Err)
	}
}

func TestInvokeRepliesToRequestsItCannotServe(t *testing.T) {
	for code, req := range map[toolabi.Code]toolabi.Request{
		toolabi.NotFound:    {ABI: 1, Tool: "Tool"},
		toolabi.Unsupported: {ABI: 2, Tool: "tool"},
	} {
		req.Input = []byte("{}")
		if reply := invoke(t, module(echo), req); reply.Err == nil || reply.Err.Code != code {
			t.Errorf("request %+v: got %v, want %s", req, reply.Err, code)
		}
	}
}

func TestInvokeRefusesWhatIsNoRequest(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("{}"), {0xa0}} {
		if reply, err := module(echo).Invoke(t.Context(), b); err == nil {
			t.Errorf("%x was answered with %x", b, reply)
		}
	}
}

func TestErrorsOfATool(t *testing.T) {
	host := &toolabi.Error{Code: toolabi.Timeout, Message: "no reply", Retry: toolabi.RetrySafe, Effect: toolabi.EffectUnknown, Detail: "d"}
	long := strings.Repeat("é", toolabi.MaxText)
	for _, c := range []struct {
		name string
		err  error
		want toolabi.Error
	}{
		{"any other", errors.New("boom"), toolabi.Error{Code: toolabi.Failed, Message: "boom", Retry: toolabi.RetryNever, Effect: toolabi.EffectNone}},
		{"the host's", host, *host},
		{"the host's, wrapped", fmt.Errorf("send: %w", host),
			toolabi.Error{Code: toolabi.Timeout, Message: "send: timeout (d): no reply", Retry: toolabi.RetrySafe, Effect: toolabi.EffectUnknown, Detail: "d"}},
		{"a code by itself", toolabi.Denied, toolabi.Error{Code: toolabi.Failed, Message: "denied", Retry: toolabi.RetryNever, Effect: toolabi.EffectNone}},
		{"without a code", &toolabi.Error{Message: "x"}, toolabi.Error{Code: toolabi.Failed, Message: "x"}},
		{"not UTF-8", &toolabi.Error{Code: toolabi.Failed, Message: "a\xff", Detail: "\xfe"}, toolabi.Error{Code: toolabi.Failed, Message: "a\uFFFD", Detail: "\uFFFD"}},
		{"too long", &toolabi.Error{Code: toolabi.Failed, Message: long, Detail: long}, toolabi.Error{Code: toolabi.Failed, Message: long[:toolabi.MaxText], Detail: long[:64]}},
	} {
		s := module(func(context.Context, []byte) ([]byte, error) { return []byte("ignored"), c.err })
		reply := invoke(t, s, toolabi.Request{ABI: 1, Tool: "tool", Input: []byte("{}")})
		if reply.Err == nil || *reply.Err != c.want || reply.Output != nil {
			t.Errorf("%s: got %+v with output %q, want %+v", c.name, reply.Err, reply.Output, c.want)
		}
	}
}

func TestPanicOfAToolIsNotCaught(t *testing.T) {
	s := module(func(context.Context, []byte) ([]byte, error) { panic("bug") })
	defer func() {
		if p := recover(); p != "bug" {
			t.Errorf("recovered %v, want the tool's panic", p)
		}
	}()
	invoke(t, s, toolabi.Request{ABI: 1, Tool: "tool", Input: []byte("{}")})
}

func TestDescribeWritesAManifestThatParses(t *testing.T) {
	b, err := module(echo).Describe()
	if err != nil {
		t.Fatal(err)
	}
	m, err := toolabi.ParseManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","additionalProperties":false}`
	if d, ok := m.Tool("tool"); !ok || string(d.Input) != want || string(d.Output) != want {
		t.Errorf("the tool is described as %+v", d)
	}
}

func TestDescribeReportsWhatIsWrongWithAModule(t *testing.T) {
	type loop struct{ Next *loop }
	for _, c := range []struct {
		why    string
		change func(*registry.Set)
	}{
		{"sdk.Module was called 2 times", func(s *registry.Set) { s.Module(func(*toolabi.Manifest) {}) }},
		{`tool "tool" is described twice`, func(s *registry.Set) { s.Add(entry("tool", echo)) }},
		{`tool "lazy": has no Run`, func(s *registry.Set) { s.Add(entry("lazy", nil)) }},
		{"contains itself", func(s *registry.Set) {
			e := entry("deep", echo)
			e.In = reflect.TypeFor[loop]()
			s.Add(e)
		}},
		{"describe the output", func(s *registry.Set) {
			e := entry("deep", echo)
			e.Out = reflect.TypeFor[chan int]()
			s.Add(e)
		}},
		{`tool "Bad"`, func(s *registry.Set) { s.Add(entry("good", echo)); s.Add(entry("Bad", echo)) }},
		{"at most 65536", func(s *registry.Set) {
			e := entry("long", echo)
			e.Tool.Description = strings.Repeat("x", toolabi.MaxManifest)
			s.Add(e)
		}},
	} {
		s := module(echo)
		c.change(s)
		if _, err := s.Describe(); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, want %q", err, c.why)
		}
	}
	if _, err := new(registry.Set).Describe(); err == nil || !strings.Contains(err.Error(), "called 0 times") {
		t.Errorf("a module without a name: got %v", err)
	}
}

func TestDescribingTwiceGivesTheSame(t *testing.T) {
	s := module(echo)
	one, err := s.Describe()
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.Describe()
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("the second description differs: %v", err)
	}
}

// FuzzInvoke holds the entry to this: whatever the bytes, there is an error or a reply that decodes.
func FuzzInvoke(f *testing.F) {
	for _, req := range []toolabi.Request{{ABI: 1, Tool: "tool", Input: []byte("{}")}, {ABI: 1, Tool: "x"}, {ABI: 9, Tool: "tool"}} {
		b, err := toolabi.Encode(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	s := module(func(_ context.Context, input []byte) ([]byte, error) {
		var in struct{ A int }
		return nil, registry.ReadInput(input, &in)
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := s.Invoke(t.Context(), b)
		var reply toolabi.Reply
		if err == nil {
			err = toolabi.Decode(out, &reply)
			if err != nil {
				t.Errorf("request %x was answered with %x: %v", b, out, err)
			}
		}
	})
}
