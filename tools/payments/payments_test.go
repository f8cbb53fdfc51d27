package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// ledger keeps charges and refunds as a ledger would, and says no to amounts over its limit.
type ledger struct {
	limit   int64
	charges []Charge
	keys    []string
	refunds []string // the bodies, as they came
}

func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Host + r.URL.Path {
	case "POST ledger.test/charges":
		l.keys = append(l.keys, r.Header.Get("Idempotency-Key"))
		l.charge(w, r)
	case "POST ledger.test/refunds":
		body, _ := io.ReadAll(r.Body)
		l.refunds = append(l.refunds, string(body))
		fmt.Fprint(w, `{"id":"re_1","charge":"ch_1","amount_cents":500}`)
	case "GET ledger.test/charges":
		l.find(w, r.URL.Query().Get("reference"))
	default:
		http.Error(w, "no such thing", http.StatusNotFound)
	}
}

func (l *ledger) charge(w http.ResponseWriter, r *http.Request) {
	var c Charge
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "want JSON", http.StatusBadRequest)
		return
	}
	if c.AmountCents > l.limit {
		http.Error(w, "not enough money", http.StatusPaymentRequired)
		return
	}
	c.ID = fmt.Sprintf("ch_%d", len(l.charges)+1)
	l.charges = append(l.charges, c)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(c)
}

func (l *ledger) find(w http.ResponseWriter, reference string) {
	var found []Charge
	for _, c := range l.charges {
		if reference == "" || c.Reference == reference {
			found = append(found, c)
		}
	}
	_ = json.NewEncoder(w).Encode(found)
}

const chargeInput = `{"ledger":"https://ledger.test/","account":"acme","amount_cents":9007199254740993,"reference":"inv 7&8"}`

func TestChargeIsTakenOnceAndExactly(t *testing.T) {
	l := &ledger{limit: 1 << 62}
	got, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "charge", chargeInput)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"ch_1","account":"acme","amount_cents":9007199254740993,"reference":"inv 7&8"}`
	if got != want {
		t.Errorf("charge returned %s, want %s", got, want)
	}
	if len(l.charges) != 1 {
		t.Errorf("the ledger has %d charges, want 1", len(l.charges))
	}
}

func TestRefusedChargeFailsWithTheLedgersReason(t *testing.T) {
	_, err := sdktest.Call(t, &sdktest.World{HTTP: &ledger{limit: 1}}, "charge", chargeInput)
	wantFailure(t, err, "declined", "402: not enough money")
}

func TestReplyWithoutIDIsNotTakenForACharge(t *testing.T) {
	for _, body := range []string{`{}`, `not JSON`, `[]`, ``} {
		w := &sdktest.World{HTTP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })}
		_, err := sdktest.Call(t, w, "charge", chargeInput)
		wantFailure(t, err, "unreadable", "the ledger took the request")
	}
}

func TestChargePairSendsTwoCharges(t *testing.T) {
	l := &ledger{limit: 1000}
	got, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "charge_pair",
		`{"ledger":"https://ledger.test","account":"acme","amount_cents":500,"reference":"inv-7","fee_cents":25}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"charge":{"id":"ch_1","account":"acme","amount_cents":500,"reference":"inv-7"},` +
		`"fee":{"id":"ch_2","account":"acme","amount_cents":25,"reference":"inv-7-fee"}}`
	if got != want {
		t.Errorf("charge_pair returned %s, want %s", got, want)
	}
	if len(l.keys) != 2 || l.keys[0] == l.keys[1] {
		t.Errorf("the two charges carried the keys %q, want two different ones", l.keys)
	}
}

func TestPaySaysWhatTheAccountHasPaid(t *testing.T) {
	l := &ledger{limit: 1000, charges: []Charge{{ID: "ch_1", Account: "acme", AmountCents: 100}, {ID: "ch_2", Account: "ada", AmountCents: 7}}}
	world := &sdktest.World{HTTP: l}
	got, err := sdktest.Call(t, world, "pay", `{"ledger":"https://ledger.test","account":"acme","amount_cents":500,"reference":"inv-7"}`)
	if want := `{"id":"ch_3","account":"acme","amount_cents":500,"reference":"inv-7","paid_cents":600}`; err != nil || got != want {
		t.Errorf("pay returned %s, %v, want %s", got, err, want)
	}
	_, err = sdktest.Call(t, world, "pay", `{"ledger":"https://ledger.test","account":"acme","amount_cents":5000,"reference":"inv-8"}`)
	wantFailure(t, err, "declined", "402: not enough money")
	if len(l.charges) != 3 {
		t.Errorf("the ledger has %d charges", len(l.charges))
	}
}

func TestChargePairNamesTheChargeThatWentThroughWhenTheFeeIsRefused(t *testing.T) {
	l := &ledger{limit: 500}
	_, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "charge_pair",
		`{"ledger":"https://ledger.test","account":"acme","amount_cents":500,"reference":"inv-7","fee_cents":501}`)
	wantFailure(t, err, "declined", "after ch_1 went through")
	if len(l.charges) != 1 {
		t.Errorf("the ledger has %d charges, want 1", len(l.charges))
	}
}

func TestRefundSendsAnAmountOnlyWhenThereIsOne(t *testing.T) {
	l := &ledger{}
	w := &sdktest.World{HTTP: l}
	for input, body := range map[string]string{
		`{"ledger":"https://ledger.test","charge":"ch_1"}`:                    `{"charge":"ch_1"}`,
		`{"ledger":"https://ledger.test","charge":"ch_1","amount_cents":500}`: `{"charge":"ch_1","amount_cents":500}`,
	} {
		l.refunds = nil
		got, err := sdktest.Call(t, w, "refund", input)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"id":"re_1","charge":"ch_1","amount_cents":500}`; got != want {
			t.Errorf("refund returned %s, want %s", got, want)
		}
		if len(l.refunds) != 1 || l.refunds[0] != body {
			t.Errorf("refund sent %q, want %q", l.refunds, body)
		}
	}
}

func TestAmountsBelowOneCentNeverReachTheLedger(t *testing.T) {
	l := &ledger{limit: 1000}
	for _, input := range []string{
		`{"ledger":"https://ledger.test","account":"acme","amount_cents":0,"reference":"r"}`,
		`{"ledger":"https://ledger.test","account":"acme","amount_cents":-5,"reference":"r"}`,
		`{"ledger":"https://ledger.test","account":"","amount_cents":5,"reference":"r"}`,
	} {
		if _, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "charge", input); !errors.Is(err, toolabi.BadInput) {
			t.Errorf("%s: got %v, want bad_input", input, err)
		}
	}
	if len(l.keys) != 0 {
		t.Errorf("the ledger was asked %d times", len(l.keys))
	}
}

func TestRefusedRefundFails(t *testing.T) {
	_, err := sdktest.Call(t, &sdktest.World{HTTP: &ledger{}}, "refund", `{"ledger":"https://ledger.test/v9","charge":"ch_1"}`)
	wantFailure(t, err, "refused", "404")
}

func TestFindReturnsTheChargesOfAReference(t *testing.T) {
	l := &ledger{charges: []Charge{{"ch_1", "acme", 5, "inv 7&8"}, {"ch_2", "acme", 6, "other"}}}
	for reference, want := range map[string]string{
		"inv 7&8": `{"charges":[{"id":"ch_1","account":"acme","amount_cents":5,"reference":"inv 7&8"}]}`,
		"nothing": `{"charges":[]}`,
	} {
		got, err := sdktest.Call(t, &sdktest.World{HTTP: l}, "find", `{"ledger":"https://ledger.test","reference":"`+reference+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("find %q returned %s, want %s", reference, got, want)
		}
	}
}

func TestHostErrorsArePassedOn(t *testing.T) {
	denied := toolabi.NewError(toolabi.Denied, "ledger.test is not granted")
	w := &sdktest.World{Exchange: func(string, toolabi.HTTPRequest) (toolabi.HTTPReply, error) { return toolabi.HTTPReply{}, denied }}
	for tool, input := range map[string]string{
		"charge":        chargeInput,
		"find":          `{"ledger":"https://ledger.test","reference":"x"}`,
		"charge_keyed":  chargeInput,
		"find_charge":   lookupOf(chargeInput, "k"),
		"refund_charge": undoing(`{"status":201,"body":{"id":"ch_1"}}`),
	} {
		if _, err := sdktest.Call(t, w, tool, input); !errors.Is(err, toolabi.Denied) {
			t.Errorf("%s returned %v, want it denied", tool, err)
		}
	}
}

func TestManifestDeclaresWhatMayBeRepeated(t *testing.T) {
	m := sdktest.Manifest(t)
	for tool, want := range map[string]toolabi.Idempotency{
		"charge": toolabi.NonIdempotent, "charge_pair": toolabi.NonIdempotent, "charge_keyed": toolabi.Keyed,
		"charge_lookup": toolabi.NonIdempotent, "refund": toolabi.Keyed, "refund_charge": toolabi.Keyed,
		"find": toolabi.ReadOnly, "find_charge": toolabi.ReadOnly,
	} {
		d, ok := m.Tool(tool)
		if !ok || d.Declared() != want {
			t.Errorf("%s declares %q (found: %v), want %q", tool, d.Idempotency, ok, want)
		}
		if want == toolabi.Keyed && d.KeyTTLMS != 24*60*60*1000 {
			t.Errorf("the keys of %s last %d ms, want a day", tool, d.KeyTTLMS)
		}
		if strings.HasPrefix(tool, "charge") && d.Compensate != "refund_charge" {
			t.Errorf("%s is undone by %q, want refund_charge", tool, d.Compensate)
		}
	}
	if d, _ := m.Tool("charge_lookup"); d.Lookup != "find_charge" || d.SettleMS != 5000 {
		t.Errorf("charge_lookup is looked up by %q after %d ms, want find_charge after 5000", d.Lookup, d.SettleMS)
	}
	if err := m.CheckImports([]string{toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend, toolabi.FuncLog, toolabi.FuncProgress}); err != nil {
		t.Error(err)
	}
}

func wantFailure(t *testing.T, err error, detail, text string) {
	t.Helper()
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Code != toolabi.Failed || e.Detail != detail || !strings.Contains(e.Message, text) {
		t.Errorf("got error %v, want failed (%s) with %q", err, detail, text)
	}
}
