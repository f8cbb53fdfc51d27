// Command everyday is a guest for tests, built with the SDK as an author would: what it does is what Go programs do every
// day and what a sandbox has to make the same every time, survive or stop.
package main

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("everyday", "1.0.0", "What Go programs do every day.", sdk.Need(toolabi.FuncHTTPFetch, "to look something up"))
	add("sum", sum)
	add("orders", orders)
	add("observe", observe)
	add("moments", moments)
	add("fetch", fetch)
	add("panics", func(context.Context, struct{}) (struct{}, error) { panic("as it was told") })
	add("exits", func(context.Context, struct{}) (struct{}, error) { os.Exit(3); return struct{}{}, nil })
	add("fails", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, sdk.Fail("out_of_tea", "no tea") })
	add("hungry", hungry)
	add("spins", func(context.Context, struct{}) (struct{}, error) {
		for {
			turns.Add(1)
		}
	})
	add("nested", nested)
	add("large", func(_ context.Context, in Size) ([]byte, error) { return make([]byte, in.Bytes), nil })
}

// Depth is how many arrays lie in each other.
type Depth struct {
	Depth int `json:"depth"`
}

// nested takes apart and puts together JSON that is as deep as it is told, which is recursion that Go programs do.
func nested(_ context.Context, in Depth) (Depth, error) {
	var v any
	if err := json.Unmarshal([]byte(strings.Repeat("[", in.Depth)+strings.Repeat("]", in.Depth)), &v); err != nil {
		return Depth{}, err
	}
	b, err := json.Marshal(v)
	return Depth{len(b) / 2}, err
}

// turns counts what spins does.
var turns atomic.Uint64

func main() {}

func add[In, Out any](name string, run func(context.Context, In) (Out, error)) {
	sdk.Register(sdk.Tool[In, Out]{Name: name, Description: name, Idempotency: sdk.ReadOnly, Run: run})
}

// Numbers is what sum adds up.
type Numbers struct {
	Numbers []int64 `json:"numbers"`
}

// Total is what came of it.
type Total struct {
	Total int64 `json:"total"`
}

func sum(_ context.Context, in Numbers) (Total, error) {
	var t Total
	for _, n := range in.Numbers {
		t.Total += n
	}
	return t, nil
}

// Observation is all that could differ from one call to the next.
type Observation struct {
	Now    time.Time     `json:"now"`
	Slept  time.Duration `json:"slept"`
	Random []uint64      `json:"random"`
	Secure string        `json:"secure"`
	Order  []string      `json:"order"`
	Args   []string      `json:"args"`
	Env    []string      `json:"env"`
	Opened string        `json:"opened"`
}

func observe(context.Context, struct{}) (Observation, error) {
	began := time.Now()
	done := make(chan struct{})
	go func() {
		time.Sleep(90 * time.Minute)
		close(done)
	}()
	<-done
	secure := make([]byte, 16)
	crand.Read(secure)
	o := Observation{
		Now: began.UTC(), Slept: time.Since(began), Random: []uint64{rand.Uint64(), rand.Uint64()},
		Secure: hex.EncodeToString(secure), Args: os.Args, Env: os.Environ(),
	}
	for k := range map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9} {
		o.Order = append(o.Order, k)
	}
	_, err := os.ReadFile("/etc/hostname")
	o.Opened = fmt.Sprint(err)
	return o, nil
}

// Moments are the guest's own clock before and after a host function answered.
type Moments struct {
	Before time.Time `json:"before"`
	Host   time.Time `json:"host"`
	After  time.Time `json:"after"`
}

func moments(context.Context, struct{}) (Moments, error) {
	m := Moments{Before: time.Now().UTC()}
	host, err := sdk.Clock()
	m.Host = host.UTC()
	m.After = time.Now().UTC()
	return m, err
}

// Status is what a server said.
type Status struct {
	Status uint16 `json:"status"`
	Body   string `json:"body"`
}

func fetch(context.Context, struct{}) (Status, error) {
	r, err := sdk.HTTPFetch(toolabi.HTTPRequest{Method: "GET", URL: "https://example.com/"})
	if err != nil {
		return Status{}, err
	}
	return Status{r.Status, string(r.Body)}, nil
}

func hungry(context.Context, struct{}) (int, error) {
	var kept [][]byte
	for {
		b := make([]byte, 1<<20)
		b[0] = 1
		kept = append(kept, b)
		if len(kept) > 1<<14 {
			return len(kept), nil
		}
	}
}

// Size is how much to answer.
type Size struct {
	Bytes int `json:"bytes"`
}
