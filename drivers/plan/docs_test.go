package plan_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/toolabi"
)

var fence = regexp.MustCompile("(?ms)^```[a-z]+ ([a-z]+)\n(.*?)^```$")

// Each block "plan" of the documentation is run with the blocks that follow it.
func TestTheDocumentationIsTrue(t *testing.T) {
	doc, err := os.ReadFile("../../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	var examples []map[string]string
	for _, m := range fence.FindAllStringSubmatch(strings.ReplaceAll(string(doc), "\r\n", "\n"), -1) {
		if m[1] == "plan" {
			examples = append(examples, map[string]string{})
		}
		examples[len(examples)-1][m[1]] = strings.TrimSuffix(m[2], "\n")
	}
	if len(examples) < 12 {
		t.Fatalf("found %d examples, want at least 12", len(examples))
	}
	for _, e := range examples {
		runExample(t, e)
	}
}

func runExample(t *testing.T, e map[string]string) {
	t.Helper()
	p, err := plan.Parse([]byte(e["plan"]))
	caller := &fakeCaller{answers: answers(t, e["answers"]), errs: map[string]error{}}
	for step, message := range answers(t, e["failures"]) {
		caller.errs[step] = toolabi.NewError(toolabi.Failed, strings.Trim(string(message), `"`))
	}
	var output []byte
	if err == nil {
		output, err = p.Run(t.Context(), caller, []byte(e["input"]))
	}
	if want, bad := e["error"]; bad {
		if err == nil || err.Error() != want {
			t.Errorf("plan\n%s\ngot error\n%v\nwant\n%s", e["plan"], err, want)
		}
		return
	}
	if err != nil {
		t.Errorf("plan\n%s\ngot error\n%v", e["plan"], err)
		return
	}
	if regexp.MustCompile(`(?m)^ *(- )?(parallel|limit):`).MatchString(e["plan"]) {
		slices.Sort(caller.calls) // what is done at once has no order
	}
	if got := strings.Join(caller.calls, "\n"); got != e["calls"] {
		t.Errorf("plan\n%s\nmade the calls\n%s\nwant\n%s", e["plan"], got, e["calls"])
	}
	if string(output) != e["output"] {
		t.Errorf("plan\n%s\nreturned\n%s\nwant\n%s", e["plan"], output, e["output"])
	}
}
