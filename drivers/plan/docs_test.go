package plan_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/toolabi"
)

// Each block "plan" of the documentation is run with the blocks that follow it.
func TestTheDocumentationIsTrue(t *testing.T) {
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range pages {
		for _, group := range p.Groups("plan") {
			e := map[string]string{}
			for _, b := range group {
				e[b.Word] = strings.TrimSuffix(b.Text, "\n")
			}
			t.Run(fmt.Sprintf("%s:%d", p.Name(), group[0].Line), func(t *testing.T) { runExample(t, e) })
			found++
		}
	}
	if found < 12 {
		t.Fatalf("found %d examples, want at least 12", found)
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
