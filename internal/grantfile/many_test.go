package grantfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/grantfile"
)

// As many grants of each kind as there may be are read as one.
func TestAsManyGrantsAsThereMayBeAreRead(t *testing.T) {
	var b strings.Builder
	for flag, form := range map[string]string{
		"allow-http": "https://h%d.example", "allow-net": "2001:db8:%x::/48", "secret": "s%d=env:S", "set": "m.k%d=v", "allow-kv": "s%d", "mail-to": "a%d@example.com",
	} {
		b.WriteString(flag + ":\n")
		for i := range hostfuncs.MaxGrants {
			fmt.Fprintf(&b, "  - \""+form+"\"\n", i)
		}
	}
	g, err := grantfile.Parse([]byte(b.String()))
	if err != nil || len(grantfile.Words(g)) != 6*hostfuncs.MaxGrants {
		t.Fatalf("%d were read, %.300v", len(grantfile.Words(g)), err)
	}
	for _, flag := range []string{"set", ""} {
		kept := grantfile.Select(g, func(w grantfile.Word) bool { return w.Flag != flag })
		if want := map[string]int{"set": 5, "": 6}[flag] * hostfuncs.MaxGrants; len(grantfile.Words(kept)) != want || (flag == "") != kept.Equal(g) {
			t.Errorf("without %q there are %d, want %d", flag, len(grantfile.Words(kept)), want)
		}
	}
}
