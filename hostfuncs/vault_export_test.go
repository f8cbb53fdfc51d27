package hostfuncs

import (
	"context"

	"github.com/wrun-dev/wrun/toolabi"
)

// ReadyFor and FillFor take the origin as text.
func (v *Vault) ReadyFor(ctx context.Context, c Call, function, to string) error {
	o, err := parseOrigin(to)
	if err != nil {
		return err
	}
	return v.Ready(ctx, c, function, o)
}

func (v *Vault) FillFor(ctx context.Context, c Call, function, to, text string) (string, error) {
	o, err := parseOrigin(to)
	if err != nil {
		return "", err
	}
	return v.Fill(ctx, c, function, o, text, toolabi.MaxHTTPBody)
}
