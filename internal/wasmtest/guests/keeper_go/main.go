// Command keeper_go is a guest for tests that tries to leave something behind for the next call, in every place that Go has, and
// says what it finds there.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/wrun-dev/wrun/sdk"
)

func init() {
	sdk.Module("keeper", "1.0.0", "Keeps what it should not.")
	sdk.Register(sdk.Tool[string, map[string]string]{
		Name: "keep", Description: "Follows the words of its input, from left to right.", Idempotency: sdk.ReadOnly, Run: act,
	})
}

func main() {}

// act follows the words and ends as the last one says, or with what it saw: a field for each place.
func act(_ context.Context, words string) (report map[string]string, err error) {
	report = map[string]string{}
	for word := range strings.SplitSeq(words, " ") {
		switch word {
		case "leave":
			for _, p := range places {
				p.leave()
			}
		case "look":
			for _, p := range places {
				report[p.name] = p.look()
			}
		case "grow":
			kept = append(kept, bytes.Repeat([]byte("left"), 2<<20))
		case "ask":
			_, _ = sdk.Clock()
		case "widen":
			report["dirty"] = fmt.Sprint(8<<20 - bytes.Count(make([]byte, 8<<20), []byte{0}))
		default:
			return end(word)
		}
	}
	return report, nil
}

// end is one of the ways to end.
func end(word string) (map[string]string, error) {
	switch word {
	case "fail":
		return nil, sdk.Fail("left", "as it was told")
	case "trap":
		panic("as it was told")
	case "nil":
		*null = 1
	case "exit":
		os.Exit(0)
	case "quit":
		os.Exit(3)
	case "spin":
		for {
			variable++
		}
	case "recurse":
		variable = recurse(1)
	case "flood":
		return map[string]string{"left": strings.Repeat("L", 200_000)}, nil
	case "hungry":
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	case "misuse":
		inputRead(unsafe.Add(nil, 1<<32-16), 32, 0)
	}
	return nil, sdk.Fail("no_such_word", word)
}

var null *int

func recurse(n int) int {
	if n < 0 {
		return n
	}
	return recurse(n+1) + n
}
