package toolabi_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// What a program does to a directory passes by the host, so some promises cannot be kept and are refused.
func TestAProgramPromisesOnlyWhatItCanKeep(t *testing.T) {
	program := func(promise toolabi.Idempotency, ttl uint64, dirs ...toolabi.Dir) *toolabi.Manifest {
		return &toolabi.Manifest{
			Name: "convert", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "run", Idempotency: promise, KeyTTLMS: ttl}},
			Command: &toolabi.Command{Dirs: dirs},
		}
	}
	reads := toolabi.Dir{Name: "in", Path: "/in", Reason: "to read"}
	writes := toolabi.Dir{Name: "out", Path: "/out", Write: true, Reason: "to write"}
	for _, c := range []struct {
		m   *toolabi.Manifest
		why string // "" for one that is accepted
	}{
		{program("", 0, reads, writes), ""},
		{program(toolabi.NonIdempotent, 0, writes), ""},
		{program(toolabi.Idempotent, 0, writes), ""},
		{program(toolabi.ReadOnly, 0, reads), ""},
		{program(toolabi.Pure, 0), ""},
		{program(toolabi.ReadOnly, 0, reads, writes), `declares read and wants to write to directory "out": declare idempotent`},
		{program(toolabi.Pure, 0, writes), `declares pure and wants to write to directory "out"`},
		{program(toolabi.Keyed, 1000), "declares keyed, and a program is given no idempotency key"},
		{program(toolabi.Keyed, 1000, writes), "declares keyed, and a program is given no idempotency key"},
	} {
		err := c.m.Validate()
		switch {
		case c.why == "" && err != nil:
			t.Errorf("%q with %d directories: refused with %v", c.m.Tools[0].Idempotency, len(c.m.Command.Dirs), err)
		case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%q with %d directories: got %v, want %s", c.m.Tools[0].Idempotency, len(c.m.Command.Dirs), err, c.why)
		}
	}
}
