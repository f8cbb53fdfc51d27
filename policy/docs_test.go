package policy_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/policy"
)

// part is a block with a word, or a row of a table of calls.
var part = regexp.MustCompile("(?ms)^```([a-z]+) ([a-z]+)\n(.*?)^```$|^\\|( `[^\n]*)\\|$")

// Each policy of the documentation decides the calls in the table behind it, or has the mistakes behind it.
func TestTheDocumentationIsTrue(t *testing.T) {
	var policies, calls, mistakes int
	for _, page := range pages(t) {
		var p *policy.Policy
		var wrong error
		kind := ""
		for _, m := range part.FindAllStringSubmatch(page.Text, -1) {
			if m[1] == "yaml" {
				kind = m[2]
			}
			switch row := strings.Split(m[4], "|"); {
			case kind != "policy":
			case m[2] == "policy":
				p, wrong = policy.Parse([]byte(m[3]))
				policies++
			case m[2] == "error":
				if got, want := fmt.Sprint(wrong), strings.TrimSuffix(m[3], "\n"); got != want {
					t.Errorf("%s: got the mistakes\n%s\nwant\n%s", page.File, got, want)
				}
				mistakes++
			case m[2] == "" && len(row) == 6:
				if wrong != nil {
					t.Fatalf("%s: %s is decided by a policy with mistakes: %v", page.File, m[0], wrong)
				}
				decideRow(t, p, row)
				calls++
			}
		}
	}
	if policies < 3 || calls < 12 || mistakes < 1 {
		t.Errorf("found %d policies, %d calls, %d lists of mistakes", policies, calls, mistakes)
	}
}

// decideRow holds a decision against a row: call, input, declared, becomes, line, reason.
func decideRow(t *testing.T, p *policy.Policy, row []string) {
	for i, cell := range row {
		row[i] = strings.Trim(cell, " `")
	}
	c := call(row[0], row[1])
	switch declared := row[2]; declared {
	case "":
	case "destructive":
		c.Destructive = true
	default:
		c.Idempotency = declared
	}
	d := p.Decide(t.Context(), c)
	becomes := d.Do.String()
	if d.Within != 0 {
		becomes += " within " + d.Within.String()
	}
	if got, want := []string{becomes, fmt.Sprint(d.Rule), d.Reason}, row[3:]; !slices.Equal(got, want) {
		t.Errorf("%s %s becomes %q, want %q", row[0], row[1], got, want)
	}
}

// pages are those of the documentation.
func pages(t testing.TB) []docpage.Page {
	t.Helper()
	all, err := docpage.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// call is a call of "module.tool" that declares nothing.
func call(name, input string) policy.Call {
	module, tool, _ := strings.Cut(name, ".")
	return policy.Call{
		Run: "invoice-7", Step: "charge", Module: module, Tool: tool, Digest: "ab12",
		Idempotency: "non_idempotent", Input: []byte(input),
	}
}
