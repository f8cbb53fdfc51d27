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
	f.Check = func(c Call, raw []byte) error {
		var req toolabi.SecretHasRequest
		if err := toolabi.Decode(raw, &req); err != nil {
			return invalidf("secret_has: %v", err)
		}
		return checkSecretHas(c, req)
	}
	f.Describe = func(raw []byte) string {
		var req toolabi.SecretHasRequest
		if toolabi.Decode(raw, &req) != nil {
			return ""
		}
		return toolabi.CleanLine(req.Name, 80)
	}
	f.ShowRequest = func(raw []byte) ([]byte, error) {
		var req toolabi.SecretHasRequest
		if err := toolabi.Decode(raw, &req); err != nil {
			return nil, err
		}
		return sayJSON(struct {
			Name string `json:"name"`
		}{req.Name})
	}
	f.ShowReply = func(raw []byte) ([]byte, error) {
		var reply toolabi.SecretHasReply
		if err := toolabi.Decode(raw, &reply); err != nil {
			return nil, err
		}
		return sayJSON(struct {
			Has bool `json:"has"`
		}{reply.Has})
	}
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
