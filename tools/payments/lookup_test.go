package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/wrun-dev/wrun/sdk/sdktest"
)

func lookupOf(input, key string) string {
	return fmt.Sprintf(`{"tool":"charge_lookup","input":%s,"function":"http_send","request":{"method":"POST"},"key":%q,"announced":"2030-01-01T00:00:00Z"}`, input, key)
}

// saying is a ledger that answers every search with the same list.
func saying(list string) *sdktest.World {
	return &sdktest.World{HTTP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, list) })}
}

func TestALookupIsSureOnlyWhereTheReferenceLeavesNoDoubt(t *testing.T) {
	const charge = `"account":"acme","amount_cents":5,"reference":"r"`
	const happened = `{"verdict":"happened","reply":{"status":201,"headers":{"Content-Type":"application/json"},"body":{"id":"ch_1",` + charge + `}},"note":"the ledger has it as ch_1"}`
	const input = `{"ledger":"https://ledger.test",` + charge + `}`
	for _, c := range []struct{ name, list, want string }{
		{"none", `[]`, `{"verdict":"did_not_happen","note":"the ledger has no charge with the reference"}`},
		{"its key", `[{"id":"ch_1",` + charge + `,"idempotency_key":"k"}]`, happened},
		{"no keys listed", `[{"id":"ch_1",` + charge + `}]`, happened},
		{"another key", `[{"id":"ch_1",` + charge + `,"idempotency_key":"other"}]`,
			`{"verdict":"unknown","note":"the ledger has ch_1 with the reference, and it is another charge"}`},
		{"another amount", `[{"id":"ch_1","account":"acme","amount_cents":6,"reference":"r"}]`,
			`{"verdict":"unknown","note":"the ledger has ch_1 with the reference, and it is another charge"}`},
		{"two", `[{"id":"ch_1",` + charge + `},{"id":"ch_2",` + charge + `}]`,
			`{"verdict":"unknown","note":"the ledger has 2 charges with the reference"}`},
	} {
		got, err := sdktest.Call(t, saying(c.list), "find_charge", lookupOf(input, "k"))
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
	for _, list := range []string{`{}`, `nonsense`, `[{` + charge + `}]`} {
		_, err := sdktest.Call(t, saying(list), "find_charge", lookupOf(input, "k"))
		wantFailure(t, err, "unreadable", "the ledger's list")
	}
	broken := &sdktest.World{HTTP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) })}
	_, err := sdktest.Call(t, broken, "find_charge", lookupOf(input, "k"))
	wantFailure(t, err, "refused", "503")
}

func TestALookedUpChargeIsTakenAsTheOthersAre(t *testing.T) {
	l := &ledger{limit: 1 << 62}
	got, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "charge_lookup", chargeInput)
	if want := `{"id":"ch_1","account":"acme","amount_cents":9007199254740993,"reference":"inv 7&8"}`; err != nil || got != want {
		t.Errorf("charge_lookup returned %s, %v; want %s", got, err, want)
	}
}
