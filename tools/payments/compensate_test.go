package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// undoing is the input that undoes a call with these replies, the second under the second key and so on.
func undoing(replies ...string) string {
	var effects []string
	for i, r := range replies {
		effects = append(effects, fmt.Sprintf(`{"step":"c/%d","function":"http_send","key":"k%d","reply":%s,`+
			`"request":{"method":"POST","url":"https://ledger.test/charges","body":{"account":"a","amount_cents":5,"reference":"r"}}}`, i+1, i+1, r))
	}
	return `{"run":"r","step":"c","tool":"charge_pair","input":{"ledger":"https://ledger.test","anything":1},"output":null,"effects":[` + strings.Join(effects, ",") + `]}`
}

// refunder takes refunds and lists the same charges for every reference.
type refunder struct {
	list    string
	refunds []string
}

func (l *refunder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, l.list)
		return
	}
	var asked struct{ Charge string }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &asked)
	l.refunds = append(l.refunds, asked.Charge)
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"id":"re_%d","charge":%q}`, len(l.refunds), asked.Charge)
}

func TestEveryChargeOfACallIsGivenBackOnce(t *testing.T) {
	for _, c := range []struct {
		name, input, list, want string
	}{
		{"one", undoing(`{"status":201,"body":{"id":"ch_1"}}`), `[]`, "ch_1"},
		{"the last first", undoing(`{"status":201,"body":{"id":"ch_1"}}`, `{"status":200,"body":{"id":"ch_2"}}`), `[]`, "ch_2 ch_1"},
		{"a body that is text", undoing(`{"status":201,"body":"{\"id\": \"ch_1\"}"}`), `[]`, "ch_1"},
		{"asked for twice", undoing(`{"status":409,"body":{"error":"in work"}}`, `{"status":201,"body":{"id":"ch_1"}}`),
			`[{"id":"ch_1","reference":"r","idempotency_key":"k1"}]`, "ch_1"},
		{"no reply, and it was made", undoing(`null`), `[{"id":"ch_7","idempotency_key":"k1"},{"id":"ch_8","idempotency_key":"other"}]`, "ch_7"},
		{"no reply, and it was not made", undoing(`null`), `[{"id":"ch_8","idempotency_key":"other"}]`, ""},
		{"refused", undoing(`{"status":402,"body":"no"}`), `[]`, ""},
		{"no effects", undoing(), `[]`, ""},
	} {
		l := &refunder{list: c.list}
		got, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "refund_charge", c.input)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if said := strings.Join(l.refunds, " "); said != c.want || strings.Count(got, `"re_`) != len(l.refunds) {
			t.Errorf("%s: refunds of %q, and %s; want %q", c.name, said, got, c.want)
		}
	}
}

func TestWhatIsNotUnderstoodIsNotGivenBack(t *testing.T) {
	for name, c := range map[string]struct{ input, list, detail string }{
		"no ledger":        {strings.Replace(undoing(), `"ledger":"https://ledger.test",`, "", 1), `[]`, "unreadable"},
		"reply is a word":  {undoing(`"yes"`), `[]`, "unreadable"},
		"no reference":     {strings.Replace(undoing(`null`), `"reference":"r"`, `"x":1`, 1), `[]`, "unreadable"},
		"list is nonsense": {undoing(`null`), `{}`, "unreadable"},
		"no keys listed":   {undoing(`null`), `[{"id":"ch_1"}]`, "unclear"},
	} {
		l := &refunder{list: c.list}
		_, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "refund_charge", c.input)
		wantFailure(t, err, c.detail, "")
		if len(l.refunds) > 0 {
			t.Errorf("%s: refunds of %q", name, l.refunds)
		}
	}
}

// A body is the same whether it stands there as JSON or as the text of that JSON, and nothing makes reading it panic.
func FuzzUnwrap(f *testing.F) {
	f.Add(`{"id":"ch_1"}`)
	f.Add(`"{\"id\":\"ch_1\"}"`)
	f.Add(``)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, body string) {
		var direct, text Charge
		if err := unwrap(toolabi.RawJSON(body), &direct); err != nil || strings.HasPrefix(strings.TrimSpace(body), `"`) {
			return
		}
		quoted, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if err := unwrap(quoted, &text); err != nil || text != direct {
			t.Errorf("%q is %+v, and as a text %+v, %v", body, direct, text, err)
		}
	})
}
