package hostfuncs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestASecretIsThereWhenItIsGrantedAndCanBeRead(t *testing.T) {
	vault := reading(map[string]string{"env:KEY": "hunter2hunter2", "env:LOOSE": "short"})
	for _, c := range []struct {
		name    string
		targets []string
		want    bool
		code    toolabi.Code
	}{
		{name: "key", want: true},
		{name: "key", targets: []string{"key"}, want: true},
		{name: "loose"}, {name: "foreign"}, {name: "nobody"},
		{name: "key", targets: []string{"spare"}, code: toolabi.Denied},
		{name: "Key", code: toolabi.Invalid},
		{name: "", code: toolabi.Invalid},
	} {
		call := billing()
		call.Targets = c.targets
		reply, err := use[toolabi.SecretHasRequest, toolabi.SecretHasReply](t.Context(), hostfuncs.Config{Secrets: vault}, toolabi.FuncSecretHas, call, toolabi.SecretHasRequest{Name: c.name})
		if reply.Has != c.want || c.code == 0 && err != nil || c.code != 0 && !errors.Is(err, c.code) {
			t.Errorf("%q among %v: got %v, %v, want %v, %v", c.name, c.targets, reply.Has, err, c.want, c.code)
		}
	}
	reply, err := use[toolabi.SecretHasRequest, toolabi.SecretHasReply](t.Context(), hostfuncs.Config{}, toolabi.FuncSecretHas, billing(), toolabi.SecretHasRequest{Name: "key"})
	if reply.Has || err != nil {
		t.Errorf("without a vault: %v, %v", reply.Has, err)
	}
}

func TestAModuleGetsItsOwnSettings(t *testing.T) {
	get := func(c hostfuncs.Call, key string) (toolabi.ConfigGetReply, error) {
		return use[toolabi.ConfigGetRequest, toolabi.ConfigGetReply](t.Context(), hostfuncs.Config{}, toolabi.FuncConfigGet, c, toolabi.ConfigGetRequest{Key: key})
	}
	call := hostfuncs.Call{Module: "m", Grants: hostfuncs.Grants{Config: []hostfuncs.ConfigGrant{
		{Module: "other", Key: "sender", Value: "no"}, {Module: "m", Key: "sender", Value: "ann@example.com"}, {Module: "m", Key: "empty"},
		{Module: "other", Key: "theirs", Value: "no"},
	}}}
	for key, want := range map[string]toolabi.ConfigGetReply{
		"sender": {Found: true, Value: "ann@example.com"}, "empty": {Found: true}, "theirs": {}, "none": {},
	} {
		if got, err := get(call, key); got != want || err != nil {
			t.Errorf("%s: got %+v, %v, want %+v", key, got, err, want)
		}
	}
	if _, err := get(call, "No Key"); !errors.Is(err, toolabi.Invalid) {
		t.Errorf("got %v", err)
	}
	call.Targets = []string{"empty"}
	if _, err := get(call, "sender"); !errors.Is(err, toolabi.Denied) || !strings.Contains(err.Error(), "among its targets") {
		t.Errorf("got %v", err)
	}
}
