package trials

import "github.com/wrun-dev/wrun/internal/ledger"

// Silently is how trials count requests that should not have been sent.
var Silently = silently

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
