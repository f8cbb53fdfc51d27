package plan_test

import (
	"reflect"
	"strings"
	"testing"
)

func TestACallSaysHowItIsTriedAgain(t *testing.T) {
	calls, _ := run(t, `
steps:
  - {id: x, tool: a.b, retry: {attempts: 3, backoff: 2s, max_backoff: 1m}}
  - {id: y, tool: a.b, retry: {attempts: 100}}
  - {id: z, tool: a.b, retry: {attempts: 1, backoff: 1.5s}}
`, "", "")
	if want := []string{"x a.b {} retry 3 2000ms 60000ms", "y a.b {} retry 100 0ms 0ms", "z a.b {} retry 1 1500ms 0ms"}; !reflect.DeepEqual(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

func TestAPersonIsAsked(t *testing.T) {
	calls, output := run(t, `
steps:
  - id: ask
    approve:
      text: "Charge ${ .input.cents } cents to ${ .input.to }?"
      detail: { to: "${ .input.to }" }
      within: 24h
  - {id: short, approve: "${ .input.cents }"}
  - {id: none, approve: "never", if: false}
output: ["${ .ask.by }", "${ .short }", "${ .none }"]
`, `{"cents": 5, "to": "ada"}`, `{"ask": {"by": "bob", "note": "fine"}}`)
	if want := []string{`ask approve "Charge 5 cents to ada?" {"to":"ada"} 24h0m0s`, `short approve "5"  0s`}; !reflect.DeepEqual(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if want := `["bob",null,null]`; output != want {
		t.Errorf("output %s, want %s", output, want)
	}
	for input, want := range map[string]string{
		`""`:                                  "step ask: failed (value): the question has 0 bytes; 1 to 4096 are allowed",
		`"` + strings.Repeat("x", 5000) + `"`: "step ask: failed (value): the question has 5000 bytes; 1 to 4096 are allowed",
	} {
		if err := fails(t, `steps: [{id: ask, approve: "${ .input }"}]`, input, &fakeCaller{}); err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestAPauseHasALengthOrAnEnd(t *testing.T) {
	for sleep, want := range map[string]string{
		`5m`:                                   "sleep 5m0s",
		`1h30m`:                                "sleep 1h30m0s",
		`0s`:                                   "sleep 0s",
		`500ms`:                                "sleep 500ms",
		`876576h`:                              "sleep 876576h0m0s",
		`"${ .input.n }"`:                      "sleep 1m30s",
		`"${ .input.n / 4000 }"`:               "sleep 23ms", // 22.5 ms
		`"${ .input.d }"`:                      "sleep 2m0s",
		`"${ .input.n }s"`:                     "sleep 1m30s",
		`{until: "2027-01-31T09:00:00+01:00"}`: "until 2027-01-31T08:00:00Z",
		`{until: 2027-01-31T09:00:00Z}`:        "until 2027-01-31T09:00:00Z",
		`{until: "${ .input.t }"}`:             "until 2027-01-31T09:00:00.5Z",
		`{until: "${ 1801386000 | todateiso8601 }"}`: "until 2027-01-31T09:00:00Z",
	} {
		calls, output := run(t, "steps: [{id: x, sleep: "+sleep+"}]", `{"n": 90, "d": "2m", "t": "2027-01-31T09:00:00.5Z"}`, "")
		if got, want := calls[0], "x "+want; got != want || output != "null" {
			t.Errorf("sleep: %s: %s, output %s, want %s", sleep, got, output, want)
		}
	}
	for input, want := range map[string]string{
		`-1`: "a number of seconds", `1e300`: "a number of seconds", `3155760001`: "a number of seconds", `null`: "a number of seconds",
		`[1]`: "a number of seconds", `true`: "a number of seconds", `"x"`: "a time such as", `"-5m"`: "a time such as", `"5"`: "a time such as",
		`"1.5ms"`: "a time in whole milliseconds", `"999999999999h"`: "a time such as", `"1000000h"`: "a time such as",
	} {
		err := fails(t, `steps: [{id: x, sleep: "${ .input }"}]`, input, &fakeCaller{})
		if want := `step x: failed (value): "sleep" has to be ` + want; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("sleep %s: got %v, want %s", input, err, want)
		}
	}
	for _, input := range []string{`5`, `"tomorrow"`, `"2027-01-31"`, `null`, `"2027-13-31T09:00:00Z"`, `"2201-01-01T00:00:00Z"`, `"1969-12-31T23:59:59Z"`, `"9999-12-31T23:59:59Z"`} {
		err := fails(t, `steps: [{id: x, sleep: {until: "${ .input }"}}]`, input, &fakeCaller{})
		if want := `step x: failed (value): "until" has to be a time such as 2027-01-31T09:00:00Z, until the year 2200`; err.Error() != want {
			t.Errorf("until %s: got %v, want %s", input, err, want)
		}
	}
}
