package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// replayTrace shows a call with its host calls, as the log holds them, no wider than 80 columns where their names permit.
func replayTrace(res runtime.Replayed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", res.Step, toolabi.CleanLine(res.Tool, 100), replayWords(res))
	if line := strings.Join(callWords(res), ", "); line != "" {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range res.HostCalls {
		at, took := "-", "-"
		if c.Ended != 0 {
			at = moment(c.Ended)
		}
		if c.Began != 0 {
			at = moment(c.Began)
			if c.Ended != 0 {
				took = span(c.Ended - c.Began)
			}
		}
		fmt.Fprintf(rows, "  %d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			c.Step.Ordinal(), toolabi.CleanLine(c.Name, 24), c.Class, at, took, bytesOf(c.Request), bytesOf(c.Reply), outcomeWords(c))
	}
	_ = rows.Flush() // into memory
	return b.String()
}

// callWords say when a call began, how long it took and what it computed.
func callWords(res runtime.Replayed) (words []string) {
	if res.Began != 0 {
		words = append(words, "began "+clock(res.Began))
	}
	if res.Began != 0 && res.Ended != 0 {
		words = append(words, "took "+span(res.Ended-res.Began))
	}
	if res.Result != nil && res.Result.Fuel != 0 {
		words = append(words, fmt.Sprintf("fuel %d", res.Result.Fuel))
		if res.Came != nil && res.Came.Fuel != res.Result.Fuel && res.Came.Fuel != 0 {
			words = append(words, fmt.Sprintf("now %d", res.Came.Fuel))
		}
	}
	if res.Module != res.Recorded && res.Module != (toolabi.Digest{}) {
		words = append(words, fmt.Sprintf("digest %s instead of %s", res.Module.Short(), res.Recorded.Short()))
	}
	return words
}

func outcomeWords(c runtime.ReplayedHostCall) string {
	words := "open"
	switch {
	case c.Err != nil:
		words = c.Err.Code.String()
	case c.Outcome != 0:
		words = c.Outcome.String()
	case c.Name == "":
		words = "waits for somebody to agree"
	}
	if c.Outcome == journal.OK && !c.Served {
		words += ", not served"
	}
	return words
}

// moment is a time of the day, to the millisecond.
func moment(ns int64) string { return time.Unix(0, ns).Format("15:04:05.000") }

// span is a duration that was recorded, in three digits or so.
func span(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}

func bytesOf(n int64) string {
	switch {
	case n < 0:
		return "-"
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	}
	return bytesText(n)
}
