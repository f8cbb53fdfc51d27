package hostfuncs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestSettingsAreGrantedAsWritten(t *testing.T) {
	for _, c := range []struct {
		text string
		want hostfuncs.ConfigGrant
		why  string
	}{
		{"mailer.sender=ann@example.com", hostfuncs.ConfigGrant{Module: "mailer", Key: "sender", Value: "ann@example.com"}, ""},
		{"m.k=", hostfuncs.ConfigGrant{Module: "m", Key: "k"}, ""},
		{"m.k= a=b\n", hostfuncs.ConfigGrant{Module: "m", Key: "k", Value: " a=b\n"}, ""},
		{"m.k=" + strings.Repeat("x", toolabi.MaxConfigValue), hostfuncs.ConfigGrant{Module: "m", Key: "k", Value: strings.Repeat("x", toolabi.MaxConfigValue)}, ""},
		{"m.k=" + strings.Repeat("x", toolabi.MaxConfigValue+1), hostfuncs.ConfigGrant{}, "at most 16384"},
		{"m.k", hostfuncs.ConfigGrant{}, "MODULE.KEY=VALUE"},
		{"k=v", hostfuncs.ConfigGrant{}, "for which module"},
		{"M.k=v", hostfuncs.ConfigGrant{}, "the module's name"},
		{".k=v", hostfuncs.ConfigGrant{}, "the module's name"},
		{"m.=v", hostfuncs.ConfigGrant{}, "the key"},
		{"m.a.b=v", hostfuncs.ConfigGrant{}, "the key"},
		{"m.k=\xff", hostfuncs.ConfigGrant{}, "UTF-8"},
	} {
		got, err := hostfuncs.ParseConfig(c.text)
		switch {
		case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%.40q: got %+v, %v, want it refused with %q", c.text, got, err, c.why)
		case c.why == "" && (err != nil || got != c.want || got.String() != c.text):
			t.Errorf("%.40q: got %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func TestASettingHasOneValue(t *testing.T) {
	one := hostfuncs.ConfigGrant{Module: "m", Key: "k", Value: "1"}
	two := hostfuncs.ConfigGrant{Module: "m", Key: "k", Value: "2"}
	var conflict *hostfuncs.GrantConflictError
	if err := (hostfuncs.Grants{Config: []hostfuncs.ConfigGrant{one, two}}).Validate(); !errors.As(err, &conflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	have := hostfuncs.Grants{Config: []hostfuncs.ConfigGrant{one}}
	if err := have.Conflict(hostfuncs.Grants{Config: []hostfuncs.ConfigGrant{two}}); !errors.As(err, &conflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	if err := have.Conflict(have); err != nil {
		t.Errorf("got %v", err)
	}
}
