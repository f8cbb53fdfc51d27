package trials

import (
	"encoding/json"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// Silently is how trials count requests that should not have been sent.
var Silently = silently

// LastOutcome is how trials take a call to have ended, from the lines of its log.
func LastOutcome(lines []string, call string) (string, error) {
	var log []entry
	for _, l := range lines {
		var e entry
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			return "", err
		}
		log = append(log, e)
	}
	e, _ := lastResult(log, call)
	return e.Outcome, nil
}

// Misdescribe makes a provider that behaves otherwise than the trials against another one believe.
func Misdescribe(name, as string, base ledger.Behaviour) error {
	p, err := providerByName(as)
	if err != nil {
		return err
	}
	wrong := *p
	wrong.name, wrong.base = name, base
	providers = append(providers, wrong)
	return nil
}
