package faults

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// left is what a trial has left behind, and all that was seen of it.
type left struct {
	journal string
	run     string
	classes []string // of the run's steps, in order

	exits  []said          // the processes, in order
	killed int             // how many of them, and of those beside them, died otherwise than by themselves
	before int             // the temporary files that others had left before
	log    []journal.Entry // as it was read last
	doubts []journal.Step  // what was in doubt then
	gone   []string        // what was in the log once and is not any more, or not as it was

	ended    bool             // the run has an end, and was resumed twice since
	last     trials.Exit      // how the process ended that found the end first
	length   int              // how long the log was then
	asked    int              // how many requests had arrived by then
	requests []ledger.Request // all that arrived
	faults   []string         // what is wrong with the journal

	acked   int   // of a bare writer: its last acknowledged entry, -1 for none
	has     int   // how many entries its journal has
	counted bool  // they were counted
	refused error // the journal cannot be opened, and this says why
	damaged bool  // somebody damaged the journal on purpose
	silent  bool  // damage was neither found nor harmless
}

// A Violation is an invariant that does not hold.
type Violation struct{ Invariant, What string }

func (v Violation) String() string { return v.Invariant + ": " + v.What }

// Kind is a kind of trial.
type Kind string

// The kinds of trials.
const (
	kindKill    Kind = "kill"
	kindPoint   Kind = "crash point"
	kindCut     Kind = "power cut"
	kindBareCut Kind = "power cut of a bare writer"
	kindImage   Kind = "crash image"
	kindSyscall Kind = "failing system call"
	kindFull    Kind = "full disk"
	kindDamage  Kind = "damage"
)

var (
	driven = []Kind{kindKill, kindPoint, kindCut, kindSyscall, kindFull} // a real run is driven to its end
	bare   = []Kind{kindBareCut, kindImage}                              // a writer appends, and acknowledges
	every  = slices.Concat(driven, bare, []Kind{kindDamage})
)

// invariants are what has to hold after every trial, and of which kinds of trials that can be said.
var invariants = []struct {
	name  string
	what  string
	kinds []Kind
	holds func(l *left) []string
}{
	{"I1", "an effect that must not be repeated takes place at most once", driven, (*left).onceAtMost},
	{"I2", "what the journal says is done was done once, with the bytes that it says", driven, (*left).doneIsDone},
	{"I3", "an effect without a result is said to be uncertain, and nothing is settled silently", driven, (*left).doubtIsSaid},
	{"I4", "what was acknowledged is in the journal", slices.Concat(driven, bare), (*left).ackedIsThere},
	{"I5", "logs have no gap, nothing changes in them, and their chains verify", slices.Concat(driven, bare), (*left).chainVerifies},
	{"I6", "what may be repeated is repeated under one key", driven, (*left).oneKey},
	{"I7", "a journal is whole, or is refused as damaged", every, (*left).wholeOrRefused},
	{"I8", "no process dies of a panic", slices.Concat(driven, []Kind{kindDamage}), (*left).noStack},
	{"I9", "resuming twice is resuming once", driven, (*left).twiceIsOnce},
	{"I10", "resuming what has ended executes nothing", driven, (*left).entersNothing},
	{"I11", "no secret is in the journal, a blob or anything that is said", driven, (*left).noSecret},
	{"I12", "nothing is left over but a temporary file for a process that was killed, and those of a power cut", driven, (*left).nothingLeft},
}

// check holds what a trial has left against every invariant of its kind.
func check(kind Kind, l *left) (found []Violation) {
	for _, i := range invariants {
		if !slices.Contains(i.kinds, kind) {
			continue
		}
		for _, what := range i.holds(l) {
			found = append(found, Violation{i.name, what})
		}
	}
	return found
}

// reference is what the oracle knows the request of a step by.
func (l *left) reference(step journal.Step) string {
	first, _, _ := strings.Cut(string(step), "/")
	first, _, _ = strings.Cut(first, "~")
	return l.run + "-" + first
}

func (l *left) class(reference string) string {
	var n int
	if _, err := fmt.Sscanf(strings.TrimPrefix(reference, l.run+"-"), "s%d", &n); err != nil || n < 1 || n > len(l.classes) {
		return ""
	}
	return l.classes[n-1]
}

// about returns the requests with a reference.
func (l *left) about(reference string) (all []ledger.Request) {
	for _, q := range l.requests {
		if q.Reference == reference {
			all = append(all, q)
		}
	}
	return all
}

// references are those of the run's payments.
func (l *left) references() (all []string) {
	for i, class := range l.classes {
		if class == classOnce || class == classKeyed {
			all = append(all, fmt.Sprintf("%s-s%d", l.run, i+1))
		}
	}
	return all
}

// effects counts what took place. A provider that knows the key hides that something was sent again; here it counts.
func effects(requests []ledger.Request, class string) (n int) {
	for _, q := range requests {
		if !q.Accepted.IsZero() || class == classOnce && q.Replayed {
			n++
		}
	}
	return n
}

// onceAtMost is I1.
func (l *left) onceAtMost() (wrong []string) {
	for _, r := range l.references() {
		if n := effects(l.about(r), l.class(r)); n > 1 {
			wrong = append(wrong, fmt.Sprintf("%s took place %d times", r, n))
		}
	}
	return wrong
}

// sends returns the intents and results of the steps that reach the oracle, by their steps.
func (l *left) sends() (intents, results map[journal.Step]journal.Entry) {
	intents, results = map[journal.Step]journal.Entry{}, map[journal.Step]journal.Entry{}
	for _, e := range l.log {
		switch {
		case e.Kind == journal.Intent && e.Name == toolabi.FuncHTTPSend:
			intents[e.Step] = e
		case e.Kind == journal.Result || e.Kind == journal.Void:
			if _, ok := intents[e.Step]; ok {
				results[e.Step] = e
			}
		}
	}
	return intents, results
}

// doneIsDone is I2, and the other half of it: what the journal says did not happen did not.
func (l *left) doneIsDone() (wrong []string) {
	if !l.ended {
		return nil
	}
	intents, results := l.sends()
	done, open := map[string]int{}, map[string]bool{}
	for step, e := range results {
		open[l.reference(step)] = open[l.reference(step)] || leavesOpen(e)
		if e.Kind != journal.Result || e.Outcome != journal.OK {
			continue
		}
		r := l.reference(step)
		done[r]++
		sent := l.about(r)
		if why := l.agrees(intents[step], e, sent); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s", r, why))
		}
	}
	for _, r := range l.references() {
		n := effects(l.about(r), l.class(r))
		if l.class(r) == classOnce && n != done[r] || n > 0 && done[r] == 0 && !open[r] || done[r] > 0 && n == 0 {
			wrong = append(wrong, fmt.Sprintf("%s is done %d times by the journal and %d times by the oracle", r, done[r], n))
		}
	}
	return wrong
}

// leavesOpen says whether a result is a failure of which nobody knows whether it took place: what may be repeated can end so.
func leavesOpen(e journal.Entry) bool {
	var failed toolabi.Error
	return e.Kind == journal.Result && e.Outcome == journal.Fail && toolabi.Decode(e.Body, &failed) == nil && failed.Effect != toolabi.EffectNone
}

// agrees says why what the journal holds of a request is not what the oracle has, or "".
func (l *left) agrees(intent, result journal.Entry, sent []ledger.Request) string {
	var asked toolabi.HTTPRequest
	var said toolabi.HTTPReply
	if err := toolabi.Decode(intent.Body, &asked); err != nil {
		return fmt.Sprint("its request cannot be read: ", err)
	}
	if err := toolabi.Decode(result.Body, &said); err != nil {
		return fmt.Sprint("its reply cannot be read: ", err)
	}
	var charge ledger.Charge
	if err := json.Unmarshal(said.Body, &charge); err != nil {
		return fmt.Sprint("the body of its reply cannot be read: ", err)
	}
	sum := sha256.Sum256(asked.Body)
	for _, q := range sent {
		if q.ID == charge.ID && q.Digest == hex.EncodeToString(sum[:]) && q.Key == intent.Key {
			return ""
		}
	}
	return fmt.Sprintf("the journal has charge %s, key %s, body %x…, the oracle %+v", charge.ID, intent.Key, sum[:4], sent)
}

// doubtIsSaid is I3.
func (l *left) doubtIsSaid() (wrong []string) {
	settled := map[journal.Step]bool{}
	for i, s := range l.exits {
		next := l.doubts
		if i+1 < len(l.exits) {
			next = l.exits[i+1].doubts
		}
		if len(s.doubts) > 0 && s.verb == "resume" && s.exit.Code == exitOK {
			wrong = append(wrong, fmt.Sprintf("%s was in doubt, and resume said that all is well", s.doubts))
		}
		for _, d := range s.doubts {
			if s.verb == "resolve" {
				settled[d] = true
			} else if !slices.Contains(next, d) && !settled[d] {
				wrong = append(wrong, fmt.Sprintf("%s was in doubt before %q and is not after it, and nobody has settled it", d, s.verb))
			}
		}
	}
	return wrong
}

// ackedIsThere is I4.
func (l *left) ackedIsThere() (wrong []string) {
	for _, s := range l.exits {
		if s.verb == "resolve" || s.exit.Stdout == "" || !strings.HasSuffix(s.exit.Stdout, "\n") || s.exit.Code != exitOK && !s.exit.Killed() {
			continue
		}
		if n := len(l.log); n == 0 || l.log[n-1].Kind != journal.Finished || string(l.log[n-1].Body)+"\n" != s.exit.Stdout {
			wrong = append(wrong, fmt.Sprintf("%s was told %q, and the journal does not end so", s.verb, s.exit.Stdout))
		}
	}
	if l.counted && (l.has < l.acked+1 || l.has > l.acked+2) {
		wrong = append(wrong, fmt.Sprintf("entry %d was acknowledged, and the log has %d entries", l.acked, l.has))
	}
	return wrong
}

// chainVerifies is I5.
func (l *left) chainVerifies() []string {
	wrong := slices.Clone(l.gone)
	for i, e := range l.log {
		if e.Seq != uint64(i) {
			wrong = append(wrong, fmt.Sprintf("entry %d says that it is %d", i, e.Seq))
		}
	}
	return append(wrong, l.faults...)
}

// oneKey is I6.
func (l *left) oneKey() (wrong []string) {
	for _, r := range l.references() {
		if l.class(r) != classKeyed {
			continue
		}
		for _, q := range l.about(r) {
			if first := l.about(r)[0]; q.Key == "" || q.Key != first.Key || q.Digest != first.Digest {
				wrong = append(wrong, fmt.Sprintf("%s was sent as %s %s, and before as %s %s", r, q.Key, q.Digest, first.Key, first.Digest))
			}
		}
	}
	return wrong
}

// wholeOrRefused is I7. Where nobody has damaged it, a journal has to open.
func (l *left) wholeOrRefused() (wrong []string) {
	if l.refused != nil && !l.damaged {
		wrong = append(wrong, fmt.Sprint("the journal is refused: ", l.refused))
	}
	if l.silent {
		wrong = append(wrong, "damage was not found, and what is read is something else")
	}
	if l.damaged {
		for _, s := range l.exits {
			if !slices.Contains([]int{exitOK, exitFailed, exitUncertain, exitDamaged}, s.exit.Code) {
				wrong = append(wrong, fmt.Sprintf("%s: exit code %d", s.verb, s.exit.Code))
			}
		}
	}
	return wrong
}

var stack = regexp.MustCompile(`(?m)^(goroutine \d|panic:|fatal error:|SIG[A-Z]+:|unexpected fault address)`)

// noStack is I8.
func (l *left) noStack() (wrong []string) {
	for _, s := range l.exits {
		if stack.MatchString(s.exit.Stderr) {
			wrong = append(wrong, fmt.Sprintf("%s died of a panic:\n%s", s.verb, s.exit.Stderr))
		}
	}
	return wrong
}

// twiceIsOnce is I9.
func (l *left) twiceIsOnce() (wrong []string) {
	if !l.ended {
		return nil
	}
	for _, s := range l.exits[len(l.exits)-2:] {
		if s.exit.Code != l.last.Code || s.exit.Stdout != l.last.Stdout {
			wrong = append(wrong, fmt.Sprintf("the finished run was resumed to %d %q, and had come to %d %q", s.exit.Code, s.exit.Stdout, l.last.Code, l.last.Stdout))
		}
	}
	if len(l.log) != l.length {
		wrong = append(wrong, fmt.Sprintf("the log of the finished run grew from %d to %d entries", l.length, len(l.log)))
	}
	return wrong
}

// entersNothing is I10.
func (l *left) entersNothing() (wrong []string) {
	if !l.ended {
		return nil
	}
	if len(l.requests) != l.asked {
		wrong = append(wrong, fmt.Sprintf("%d requests came from a run that had ended", len(l.requests)-l.asked))
	}
	for _, s := range l.exits[len(l.exits)-2:] {
		if !strings.Contains(s.exit.Stderr, "nothing was executed") {
			wrong = append(wrong, "a run that had ended was gone on with: "+s.exit.Stderr)
		}
	}
	return wrong
}

// noSecret is I11.
func (l *left) noSecret() (wrong []string) {
	for _, s := range l.exits {
		if strings.Contains(s.exit.Stdout+s.exit.Stderr, canary) {
			wrong = append(wrong, s.verb+" has said it")
		}
	}
	for _, path := range l.files() {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(canary)) {
			wrong = append(wrong, path+" has it")
		}
	}
	return wrong
}

// files are those of the journal: itself, and all that lies beside it under its name.
func (l *left) files() (all []string) {
	base := filepath.Base(l.journal)
	_ = filepath.WalkDir(filepath.Dir(l.journal), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what goes away meanwhile is nobody's
		}
		if rel, err := filepath.Rel(filepath.Dir(l.journal), path); err == nil && strings.Contains(rel, base) {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// temporary counts the temporary files beside the journal.
func (l *left) temporary() (n int) {
	for _, path := range l.files() {
		if name := filepath.Base(path); strings.HasPrefix(name, "new-") || strings.HasSuffix(name, ".tmp") {
			n++
		}
	}
	return n
}

// nothingLeft is I12: temporary files of the journal, and processes.
func (l *left) nothingLeft() (wrong []string) {
	if tmp := l.temporary() - l.before; tmp > l.killed {
		wrong = append(wrong, fmt.Sprintf("%d temporary files are left, and %d processes were killed", tmp, l.killed))
	}
	if pids := processesOf(l.journal); len(pids) > 0 {
		wrong = append(wrong, fmt.Sprintf("processes %d are left", pids))
	}
	return wrong
}
