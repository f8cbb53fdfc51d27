package hostfuncs

import (
	"context"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

func configGetFunc() Func {
	f := Handle(toolabi.FuncConfigGet, toolabi.Read, func(_ context.Context, c Call, req toolabi.ConfigGetRequest) (toolabi.ConfigGetReply, error) {
		if err := checkConfigGet(c, req); err != nil {
			return toolabi.ConfigGetReply{}, err
		}
		value, found := c.Grants.Setting(c.Module, req.Key)
		return toolabi.ConfigGetReply{Found: found, Value: value}, nil
	})
	f.Check = judged(toolabi.FuncConfigGet, checkConfigGet)
	f.Describe = described(func(req toolabi.ConfigGetRequest) string { return toolabi.CleanLine(req.Key, 80) })
	type asked struct {
		Key string `json:"key"`
	}
	type answered struct {
		Found bool   `json:"found"`
		Value string `json:"value,omitempty"`
	}
	f.ShowRequest = shown(func(req toolabi.ConfigGetRequest) asked { return asked(req) })
	f.ShowReply = shown(func(reply toolabi.ConfigGetReply) answered { return answered(reply) })
	return f
}

func checkConfigGet(c Call, req toolabi.ConfigGetRequest) error {
	switch {
	case !toolabi.IsSecretName(req.Key):
		return invalidf("config_get: %q is no key: want lower-case letters, digits, and inner hyphens and underscores, at most 64", toolabi.CleanLine(req.Key, 80))
	case len(c.Targets) > 0 && !slices.Contains(c.Targets, req.Key):
		return toolabi.NewError(toolabi.Denied, fmt.Sprintf("config_get: the module's manifest does not name key %s among its targets; --set cannot widen that", req.Key))
	}
	return nil
}
