// Command everything is a module for tests: each of its tools shows one thing that a guest can do.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// In is the input of every tool.
type In struct {
	N int `json:"n"`
}

// Out is the output of every tool.
type Out struct {
	Text string `json:"text"`
}

func init() {
	sdk.Module("everything", "1.0.0", "shows what a guest can do",
		sdk.Need(toolabi.FuncHTTPFetch, "to show it"), sdk.Need(toolabi.FuncHTTPSend, "to show it", "https://host.test"),
		sdk.Need(toolabi.FuncToolCall, "to show it", "other.*"))
	for _, t := range []struct {
		name string
		run  func(In) (string, error)
	}{
		{"log", func(In) (string, error) { sdk.Log(toolabi.LevelWarn, "a line"); return "", nil }},
		{"progress", func(in In) (string, error) { sdk.Progress(uint64(in.N), 100, "on it"); return "", nil }},
		{"clock", clock}, {"random", random}, {"http_fetch", fetch}, {"http_send", send},
		{"approve", approve}, {"sleep", sleep}, {"sleep_until", sleepUntil}, {"tool_call", call},
		{"big", func(in In) (string, error) { return strings.Repeat("x", in.N), nil }},
		{"fail", func(In) (string, error) { return "", errors.New("no \xff luck") }},
		{"crash", func(In) (string, error) { panic("a bug") }},
		{"crowded", crowded},
	} {
		sdk.Register(sdk.Tool[In, Out]{Name: t.name, Run: func(_ context.Context, in In) (Out, error) {
			text, err := t.run(in)
			return Out{Text: text}, err
		}})
	}
}

func main() {}

func clock(In) (string, error) {
	now, err := sdk.Clock()
	return now.Format("2006-01-02T15:04:05.999999999Z07:00"), err
}

func random(in In) (string, error) {
	b, err := sdk.Random(in.N)
	return hex.EncodeToString(b), err
}

func fetch(In) (string, error) {
	reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: "https://host.test/"})
	return string(reply.Body), err
}

func send(In) (string, error) {
	reply, err := sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: "https://host.test/", Body: []byte("x")})
	return string(reply.Body), err
}

func approve(in In) (string, error) {
	reply, err := sdk.Approve(toolabi.ApproveRequest{Text: "Go on?", ExpiresMS: uint64(in.N)})
	return reply.By, err
}

func sleep(in In) (string, error) { return "", sdk.Sleep(time.Duration(in.N)) }

func sleepUntil(in In) (string, error) { return "", sdk.SleepUntil(time.Unix(int64(in.N), 0)) }

func call(in In) (string, error) {
	var out Out
	err := sdk.CallTool("other.tool", in, &out)
	return out.Text, err
}

// crowded draws bytes in many goroutines at once, each a different number of them.
func crowded(in In) (string, error) {
	errs := make(chan error)
	for i := range in.N {
		go func() {
			b, err := sdk.Random(i + 1)
			if err == nil && len(b) != i+1 {
				err = errors.New("got the bytes of another")
			}
			errs <- err
		}()
	}
	var all []error
	for range in.N {
		all = append(all, <-errs)
	}
	return "done", errors.Join(all...)
}
