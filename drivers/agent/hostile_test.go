package agent_test

import (
	"strings"
	"testing"
)

// What the length of an answer cut off may be any part of what the model meant.
func TestACallThatMayHaveBeenCutOffIsNotMade(t *testing.T) {
	s := newSite(t)
	got, err := s.answer(scripted(`
replies:
  - when: ${ .turn > 0 }
    say: "${ [.results[].text] | join(\"|\") }"
  - calls: [{tool: shop.send, with: {what: rent}}, {tool: shop.echo, arguments: ""}]
    cut: true`))
	if err != nil || len(s.sent) != 1 || len(s.entered) != 1 || !strings.HasPrefix(got, `{"sent":true}|not called: `) {
		t.Errorf("got %q, %v; entered %q", got, err, s.entered)
	}
}
