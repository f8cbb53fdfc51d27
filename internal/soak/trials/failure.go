package trials

import (
	"encoding/json"
	"fmt"
)

// unsettled is how the payments tools call a reply that leaves open what becomes of the charge.
const unsettled = "unsettled"

// readFailure finds with which charge the run has failed, and how. A failure that leaves the charge open has to say so.
func (t *trial) readFailure() error {
	for i, w := range t.provider.planCharges(t.run) {
		e, ok := lastResult(t.log, w.call)
		if !ok || e.Outcome == "ok" {
			continue
		}
		var said struct{ Code, Detail, Effect string }
		if err := json.Unmarshal(e.Body, &said); err != nil {
			return fmt.Errorf("result of %s: %w", e.Step, err)
		}
		t.failed, t.detail = i, said.Detail
		return t.judgeFailure(said.Detail, said.Effect)
	}
	return fmt.Errorf("the run has failed, and none of its calls has")
}

func (t *trial) judgeFailure(detail, effect string) error {
	switch {
	case detail == unsettled && effect == "unknown":
		t.report.tell(func(r *Report) { r.Unsettled++ })
	case detail == "declined":
		t.report.tell(func(r *Report) { r.Declined++ })
	default:
		return fmt.Errorf("the run has failed with %q, effect %s", detail, effect)
	}
	return nil
}
