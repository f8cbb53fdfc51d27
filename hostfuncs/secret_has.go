package hostfuncs

import (
	"context"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

func secretHasFunc(vault *Vault) Func {
	f := Handle(toolabi.FuncSecretHas, toolabi.Read, func(ctx context.Context, c Call, req toolabi.SecretHasRequest) (toolabi.SecretHasReply, error) {
		if err := checkSecretHas(c, req); err != nil {
			return toolabi.SecretHasReply{}, err
		}
		return toolabi.SecretHasReply{Has: vault.Has(ctx, c, req.Name)}, nil
	})
	f.Check = judged(toolabi.FuncSecretHas, checkSecretHas)
	f.Describe = described(func(req toolabi.SecretHasRequest) string { return toolabi.CleanLine(req.Name, 80) })
	type asked struct {
		Name string `json:"name"`
	}
	type answered struct {
		Has bool `json:"has"`
	}
	f.ShowRequest = shown(func(req toolabi.SecretHasRequest) asked { return asked(req) })
	f.ShowReply = shown(func(reply toolabi.SecretHasReply) answered { return answered(reply) })
	return f
}

func checkSecretHas(c Call, req toolabi.SecretHasRequest) error {
	switch {
	case !toolabi.IsSecretName(req.Name):
		return invalidf("secret_has: %q is no name of a secret", toolabi.CleanLine(req.Name, 80))
	case len(c.Targets) > 0 && !slices.Contains(c.Targets, req.Name):
		return secretError(toolabi.NewError(toolabi.Denied, fmt.Sprintf("secret_has: the module's manifest does not name secret %s among its targets", req.Name)))
	}
	return nil
}
