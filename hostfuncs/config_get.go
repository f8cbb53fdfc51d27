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
	f.Check = func(c Call, raw []byte) error {
		var req toolabi.ConfigGetRequest
		if err := toolabi.Decode(raw, &req); err != nil {
			return invalidf("config_get: %v", err)
		}
		return checkConfigGet(c, req)
	}
	f.Describe = func(raw []byte) string {
		var req toolabi.ConfigGetRequest
		if toolabi.Decode(raw, &req) != nil {
			return ""
		}
		return toolabi.CleanLine(req.Key, 80)
	}
	f.ShowRequest = func(raw []byte) ([]byte, error) {
		var req toolabi.ConfigGetRequest
		if err := toolabi.Decode(raw, &req); err != nil {
			return nil, err
		}
		return sayJSON(struct {
			Key string `json:"key"`
		}{req.Key})
	}
	f.ShowReply = func(raw []byte) ([]byte, error) {
		var reply toolabi.ConfigGetReply
		if err := toolabi.Decode(raw, &reply); err != nil {
			return nil, err
		}
		return sayJSON(struct {
			Found bool   `json:"found"`
			Value string `json:"value,omitempty"`
		}{reply.Found, reply.Value})
	}
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
