package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// What is said of programs and of their directories.
func TestProblemsOfPrograms(t *testing.T) {
	intent := journal.Entry{
		Kind: journal.Intent, Step: "call", Name: "convert.run", Class: uint8(toolabi.Once), Module: journal.DigestOf([]byte("m")),
		Time: 1, Note: "may write to out (/srv/out)",
	}
	broken := &runtime.Evidence{Err: toolabi.NewError(toolabi.Unavailable, "it was entered, and stopped before its end because the process was asked to stop")}
	inDoubt := func(ev *runtime.Evidence) error {
		return &runtime.UncertainError{Run: "r", Step: "call", Tool: "convert.run", Intent: intent, Evidence: ev}
	}
	settle := "wrun resolve r call --happened @reply.json\nwrun resolve r call --did-not-happen"
	for _, c := range []struct {
		err               error
		code              code
		title, known, run string
		next              string
	}{
		{inDoubt(nil), codeUncertain, "outcome unknown: what convert.run wrote is not known",
			"to be entered at once; it may write to out (/srv/out)\nit may have been entered, and no end is recorded; what it wrote is not known", "r, step call (convert.run)", settle},
		{inDoubt(broken), codeUncertain, "what convert.run wrote", "asked to stop; what it wrote is not known", "r, step call", settle},
		{&runtime.UngrantedError{Module: "convert", Dirs: []toolabi.Dir{{Name: "out", Write: true, Reason: "to keep the pages"}, {Name: "in", Reason: "to read them"}}},
			codeUngranted, "module convert wants directory out (to keep the pages), which is not granted: say --dir out=PATH:rw; and directory in (to read them)",
			"", "", "the same command, with --dir out=PATH:rw --dir in=PATH"},
		{&runtime.DirError{Run: "r", Err: fmt.Errorf("directory out: /gone is not there")}, codeDir, "/gone is not there", "", "r", ""},
		{fmt.Errorf("run r: %w", &hostfuncs.GrantConflictError{Kind: hostfuncs.GrantedDir, Name: "out", Has: "/a", Wants: "/b"}), codeDir, "directory out is granted as /a and as /b", "", "", ""},
		{fmt.Errorf("run r: %w", &hostfuncs.GrantConflictError{Kind: hostfuncs.GrantedWorkspace, Has: "/a", Wants: "/b"}), codeConflict, "workspace is granted as /a and as /b", "", "", ""},
		{fmt.Errorf("run r: step call: %w", runtime.ErrNoKey), codeUsage, "a program is given no idempotency key", "", "", "without --new-key"},
	} {
		p := new(app).problem(c.err)
		if p.code.id != c.code.id || p.exit != c.code.exit {
			t.Errorf("%v: %s with exit code %d, want %s with %d", c.err, p.code.id, p.exit, c.code.id, c.code.exit)
		}
		for what, pair := range map[string][2]string{"title": {p.title, c.title}, "known": {p.known, c.known}, "run": {p.where, c.run}, "next": {p.next, c.next}} {
			if !strings.Contains(pair[0], pair[1]) {
				t.Errorf("%v: %s is %q, want %q", c.err, what, pair[0], pair[1])
			}
		}
	}
	if codeUncertain.exit != 4 || codeUngranted.exit != 9 {
		t.Errorf("exit codes %d and %d", codeUncertain.exit, codeUngranted.exit)
	}
}
