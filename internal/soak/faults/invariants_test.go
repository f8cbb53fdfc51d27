package faults

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// good is what a run of one payment of each class leaves that has come to its end.
func good(t *testing.T) *left {
	t.Helper()
	l := &left{run: "r", classes: []string{classOnce, classKeyed}, journal: t.TempDir() + "/journal.db", ended: true, asked: 2, length: 6}
	body := []byte(`{"account":"a"}`)
	for i, key := range []string{"k1", "k2"} {
		id, step := "ch_"+key, journal.Step([]string{"s1/1", "s2/1"}[i])
		l.requests = append(l.requests, ledger.Request{
			Reference: l.reference(step), Key: key, ID: id, Status: 201, Accepted: time.Unix(1, 0),
		})
		l.requests[i].Digest = sum(body)
		l.log = append(l.log,
			journal.Entry{Kind: journal.Intent, Name: toolabi.FuncHTTPSend, Step: step, Key: key, Body: encoded(&toolabi.HTTPRequest{Method: "POST", URL: "http://x", Body: body})},
			journal.Entry{Kind: journal.Result, Outcome: journal.OK, Step: step, Body: encoded(&toolabi.HTTPReply{Status: 201, Body: []byte(`{"id":"` + id + `"}`)})})
	}
	l.log = append(l.log, journal.Entry{Kind: journal.Record}, journal.Entry{Kind: journal.Finished, Body: []byte("{}")})
	for i := range l.log {
		l.log[i].Seq = uint64(i)
	}
	done := said{verb: "resume", exit: trials.Exit{Stdout: "{}\n", Stderr: "run r was finished already; nothing was executed\n"}}
	l.exits, l.last = []said{done, done, done}, done.exit
	return l
}

// Every invariant has to see what breaks it, and nothing else.
func TestEveryInvariantSeesWhatBreaksIt(t *testing.T) {
	if found := check(kindKill, good(t)); len(found) > 0 {
		t.Fatalf("a good run: %s", found)
	}
	for _, c := range []struct {
		want  string
		kind  Kind
		spoil func(l *left)
	}{
		{"I1", kindKill, func(l *left) { l.requests = append(l.requests, l.requests[0]); l.asked++ }},
		{"I1", kindKill, func(l *left) {
			again := l.requests[0]
			again.Accepted, again.Replayed = time.Time{}, true
			l.requests = append(l.requests, again)
			l.asked++
		}},
		{"I2", kindKill, func(l *left) { l.requests = l.requests[1:]; l.asked-- }},
		{"I2", kindKill, func(l *left) { l.requests[0].Digest = sum([]byte("other")) }},
		{"I2", kindKill, func(l *left) { l.requests[1].ID = "ch_other" }},
		{"I2", kindKill, func(l *left) {
			l.log[1].Outcome, l.log[1].Body = journal.Fail, encoded(toolabi.NewError(toolabi.Failed, "x"))
		}},
		{"I3", kindKill, func(l *left) { l.exits[0].doubts = []journal.Step{"s1/1"} }},
		{"I4", kindKill, func(l *left) { l.log[5].Body = []byte("[]") }},
		{"I4", kindBareCut, func(l *left) { l.counted, l.acked, l.has = true, 0, 0 }},
		{"I4", kindBareCut, func(l *left) { l.counted, l.acked, l.has = true, 4, 7 }},
		{"I5", kindKill, func(l *left) { l.log[3].Seq = 4 }},
		{"I5", kindKill, func(l *left) { l.gone = []string{"entry 1"} }},
		{"I5", kindImage, func(l *left) { l.counted, l.acked, l.has, l.faults = true, 0, 1, []string{"broken"} }},
		{"I6", kindKill, func(l *left) {
			again := l.requests[1]
			again.Key, again.Accepted = "k3", time.Time{}
			l.requests = append(l.requests, again)
			l.asked++
		}},
		{"I7", kindCut, func(l *left) { l.refused = journal.ErrDamaged }},
		{"I7", kindDamage, func(l *left) { l.damaged, l.silent, l.exits = true, true, nil }},
		{"I7", kindDamage, func(l *left) { l.damaged, l.exits = true, []said{{exit: trials.Exit{Code: exitMissing}}} }},
		{"I8", kindKill, func(l *left) { l.exits[0].exit.Stderr = "panic: x\n\ngoroutine 1 [running]:\n" }},
		{"I9", kindKill, func(l *left) { l.exits[2].exit.Code = exitFailed }},
		{"I9", kindKill, func(l *left) { l.length-- }},
		{"I10", kindKill, func(l *left) { l.exits[1].exit.Stderr = "run r: 1 steps executed" }},
		{"I10", kindKill, func(l *left) { l.asked-- }},
		{"I11", kindKill, func(l *left) { l.exits[0].exit.Stderr += canary }},
		{"I12", kindKill, func(l *left) { l.before = -1 }},
	} {
		l := good(t)
		c.spoil(l)
		found := check(c.kind, l)
		if !slices.ContainsFunc(found, func(v Violation) bool { return v.Invariant == c.want }) {
			t.Errorf("%s of a %s: found %s", c.want, c.kind, found)
		}
	}
}

func TestAReportSaysWhatDisagrees(t *testing.T) {
	row := &Row{Fault: "x"}
	r := &Report{Rows: []*Row{row}}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "no fault has landed") {
		t.Errorf("without a fault: %v", err)
	}
	row.add("trial 1", 1, nil, []Violation{{"I1", "a"}, {"I2", "b"}, {"I3", "c"}, {"I4", "d"}, {"I8", "e"}})
	row.fail("trial 2", errors.New("f"))
	if row.Trials != 2 || row.Repeated != 1 || row.Lost != 2 || row.Wrong != 1 || row.other() != 2 {
		t.Errorf("the row is %s", r)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "x: trial 1: I1: a") {
		t.Errorf("with violations: %v", err)
	}
	r.Rows, r.Controls = nil, []Control{{Tag: "broken_x"}}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "broken_x was not noticed") || !strings.Contains(r.String(), "NOTHING") {
		t.Errorf("with a control that nobody noticed: %v", err)
	}
}
