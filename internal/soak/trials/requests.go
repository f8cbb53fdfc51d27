package trials

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// requests returns what the ledger was asked with a reference, or by the whole run without one.
func (t *trial) requests(reference string) []ledger.Request {
	var found []ledger.Request
	for _, q := range t.world.Requests() {
		if q.Reference == reference || reference == "" && strings.HasPrefix(q.Reference, t.run+"-") {
			found = append(found, q)
		}
	}
	return found
}

// verifyRequests looks at every request, not only at those that had an effect: where a key is honoured they all carry
// the same one, and where it is not, nothing was asked again of which somebody had not said that it did not happen.
func (t *trial) verifyRequests() error {
	voids := map[string]int{}
	for _, e := range t.log {
		if e.Kind == "void" {
			voids[e.first()]++
		}
	}
	var errs []error
	for _, w := range t.provider.planCharges(t.run) {
		sent := t.requests(w.reference)
		second := max(0, len(sent)-1)
		silent := silently(sent, w.keyed, voids[w.step])
		t.report.tell(func(r *Report) {
			r.Requests += len(sent)
			r.Second += second
			r.Silent += silent
		})
		if silent > 0 {
			errs = append(errs, fmt.Errorf("%s was sent a second time and nobody had said so, %d times: %+v", w.reference, silent, sent))
		}
	}
	return errors.Join(errs...)
}

// silently counts the requests that should not have been sent.
func silently(sent []ledger.Request, keyed bool, voids int) (n int) {
	acted := false
	for i, q := range sent {
		switch {
		case keyed && (q.Key == "" || q.Key != sent[0].Key || q.Digest != sent[0].Digest):
			n++
		case !keyed && (acted || i > voids):
			n++
		}
		acted = acted || !q.Accepted.IsZero()
	}
	return n
}
