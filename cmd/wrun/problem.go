package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/tooltoml"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// problem is an error as a person sees it.
type problem struct {
	code  code
	exit  int
	title string
	// where, known and next are the lines below the title; empty ones are left out.
	where, known, next string
	// unbegun says that nothing was written of the run, so that there is none to name.
	unbegun bool
}

// problem finds the words for an error.
func (a *app) problem(err error) problem {
	for _, find := range []func(error) (problem, bool){a.agentProblem, a.runProblem, a.bundleProblem, a.journalProblem, a.grantProblem, a.toolProblem, a.inputProblem} {
		if p, ok := find(err); ok {
			if p.exit == 0 {
				p.exit = p.code.exit
			}
			if p.title == "" {
				p.title = toolabi.CleanLine(err.Error(), 2048)
			}
			return p
		}
	}
	return problem{code: codeOther, exit: codeOther.exit, title: toolabi.CleanLine(err.Error(), 2048)}
}

// runProblem knows the ends of a run that are not its success.
func (a *app) runProblem(err error) (problem, bool) {
	var (
		uncertain *runtime.UncertainError
		waiting   *runtime.WaitingError
		diverged  *runtime.DivergedError
		busy      *runtime.BusyError
		limit     *runtime.LimitError
		failed    *runtime.FailedError
		late      *runtime.LateError
		restored  *runtime.UnconfirmedError
		soon      *runtime.TooSoonError
		answered  *runtime.AnsweredError
		other     *runtime.ShownError
		gaveUp    *gaveUpError
		stopped   *runtime.StoppedError
		notUndone *runtime.NotUndoneError
		gone      *runtime.DirError
		memory    *sandbox.MemoryError
		budget    *runtime.BudgetError
		quota     *runtime.QuotaError
		replay    *replayError
	)
	switch {
	case errors.As(err, &replay):
		return a.replayProblem(replay), true
	case errors.As(err, &memory):
		return problem{code: codeMemory, known: "nothing is recorded of the call but what its host functions did; --memory-budget SIZE gives all calls more"}, true
	case errors.As(err, &uncertain):
		return a.uncertainProblem(uncertain), true
	case errors.As(err, &notUndone):
		return a.notUndoneProblem(notUndone), true
	case errors.As(err, &gaveUp):
		p := problem{code: codeGaveUp, next: gaveUp.next}
		if gaveUp.waits != nil {
			p.next = a.nextOfWaiting(gaveUp.waits)
		}
		return p, true
	case errors.As(err, &stopped):
		return a.stoppedProblem(stopped), true
	case errors.As(err, &waiting):
		return problem{code: codeWaiting, known: toolabi.CleanLine(waiting.Text, 500), next: a.nextOfWaiting(waiting)}, true
	case errors.As(err, &budget):
		return problem{code: codeBudget, next: a.raise(budget.Run, budget.What)}, true
	case errors.As(err, &quota) && quota.Journal:
		return problem{code: codeJournalQuota, next: a.nextOfQuota(quota.Run, true)}, true
	case errors.As(err, &quota):
		return problem{code: codeRunQuota, next: a.nextOfQuota(quota.Run, false)}, true
	case errors.As(err, &answered):
		return problem{code: codeAnswered, next: a.cmd("resume " + answered.Run)}, true
	case errors.As(err, &other):
		return problem{code: codeShown, next: a.cmd("inbox")}, true
	case errors.Is(err, journal.ErrExpired):
		return problem{code: codeExpired}, true
	case errors.Is(err, runtime.ErrOpen):
		return problem{code: codeOpen}, true
	case errors.Is(err, runtime.ErrNothingToUndo):
		return problem{code: codeNothingToUndo}, true
	case errors.Is(err, runtime.ErrNoStep):
		return problem{code: codeNoStep}, true
	case errors.As(err, &gone):
		if gone.Run == "" {
			return problem{code: codeDir, next: "the same command, with a directory that can be used", unbegun: true}, true
		}
		known := "nothing was entered; the run goes on once the directory is back"
		if errors.As(err, new(*hostfuncs.WorkspaceError)) {
			known = "what the tool did before is recorded; the run goes on once the workspace can be used"
		}
		return problem{code: codeDir, where: gone.Run, known: known}, true
	case errors.As(err, &diverged):
		return problem{code: codeDiverged, next: a.cmd("log " + diverged.Run)}, true
	case errors.As(err, &busy):
		p := problem{code: codeDriven, next: a.cmd("show " + busy.Run)}
		if len(busy.Late) > 0 {
			p.code = codeLate
		}
		if busy.Unknown {
			p.next = a.cmd("resume "+busy.Run+" --take-over") + ", if you know that it does not live"
		}
		return p, true
	case errors.As(err, &limit):
		return problem{code: codeReplayLimit, next: a.cmd("resume " + limit.Run)}, true
	case errors.As(err, &failed):
		return a.failedProblem(failed), true
	case errors.As(err, &late):
		return problem{code: codeLate, next: a.cmd("log "+late.Run) + ", then " + a.cmd("resolve "+late.Run+" --acknowledge")}, true
	case errors.As(err, &restored):
		return problem{code: codeRestored, next: a.cmd("show "+restored.Run) + "\n" + a.cmd("resolve "+restored.Run+" --confirm")}, true
	case errors.As(err, &soon):
		return problem{code: codeTooSoon, next: "the same command after that, or with --now"}, true
	case errors.Is(err, runtime.ErrContradicted):
		return problem{code: codeContradicted}, true
	case errors.Is(err, runtime.ErrNotOpen):
		return problem{code: codeNothingOpen}, true
	case errors.Is(err, journal.ErrClosed):
		return problem{code: codeClosed}, true
	case errors.Is(err, runtime.ErrInterrupted):
		return problem{code: codeInterrupted}, true
	}
	return problem{}, false
}

func (a *app) uncertainProblem(u *runtime.UncertainError) problem {
	if u.Program() {
		return a.programProblem(u)
	}
	what := u.Tool
	if what == "" {
		what = string(u.Step)
	}
	asked := strings.TrimSpace(u.Intent.Name + " " + u.Intent.Note)
	known := fmt.Sprintf("intent written %s for a request of %d bytes; ", clock(u.Intent.Time), u.Request)
	if u.Evidence != nil && u.Evidence.Err != nil {
		known += evidence(u.Evidence) + "; no response recorded"
	} else {
		known += "it may have been sent; no response recorded"
	}
	if u.Why != "" {
		known += "\n" + u.Why
	}
	return problem{
		code: codeUncertain, title: fmt.Sprintf("outcome unknown: %s may or may not have happened", what),
		where: fmt.Sprintf("%s, step %s (%s)", u.Run, u.Step, asked), known: known,
		next: a.settleWith(u.Run, string(u.Step)),
	}
}

// programProblem is what is known of a program that could write and has no outcome.
func (a *app) programProblem(u *runtime.UncertainError) problem {
	known := "announced " + clock(u.Intent.Time) + ", to be entered at once; it " + toolabi.CleanLine(u.Intent.Note, 500) + "\n"
	if u.Evidence != nil && u.Evidence.Err != nil {
		known += evidence(u.Evidence)
	} else {
		known += "it may have been entered, and no end is recorded"
	}
	return problem{
		code: codeUncertain, title: fmt.Sprintf("outcome unknown: what %s wrote is not known", u.Tool),
		where: fmt.Sprintf("%s, step %s (%s)", u.Run, u.Step, u.Intent.Name), known: known + "; what it wrote is not known",
		next: a.settleWith(u.Run, string(u.Step)),
	}
}

// nextOfQuota are the commands that bring a run further which reached its quota, or the journal's.
func (a *app) nextOfQuota(run string, ofJournal bool) string {
	if ofJournal {
		return a.cmd("gc --keep done=30d") + "\n" + a.cmd("compact") + "\n" + a.cmd("resume "+run+" --journal-quota SIZE")
	}
	return a.cmd("resume " + run + " --run-quota SIZE")
}

// nextOfWaiting are the commands that bring a run further which waits.
func (a *app) nextOfWaiting(w *runtime.WaitingError) string {
	if w.For == toolabi.FuncApprove && w.Step.Attempt() > 1 {
		return a.cmd("inbox") // what it is about has changed, and has to be looked at
	}
	if w.For == toolabi.FuncApprove {
		return a.cmd("inbox") + "\n" + a.answerStep(w.Run, w.Step, "")
	}
	return a.cmd("resume " + w.Run + " --wait")
}

// answerStep are the two commands that answer a question; step is the one that asks, or is asked about.
func (a *app) answerStep(run string, step journal.Step, flags string) string {
	step = step.First().Asked()
	asked := quoted(string(step)) + flags
	return a.cmd(fmt.Sprintf("approve %s %s", run, asked)) + "\n" + a.cmd(fmt.Sprintf("deny %s %s", run, asked))
}

// notUndoneProblem gives the inputs of the calls that nobody has made yet.
func (a *app) notUndoneProblem(e *runtime.NotUndoneError) problem {
	var known []string
	for _, u := range e.Missing {
		known = append(known, u.Tool+" "+oneLine(u.Input))
	}
	return problem{
		code: codeNotUndone, where: e.Run, known: strings.Join(known, "\n"), next: a.cmd("show " + runtime.RollbackOf(e.Run)),
	}
}

// settleWith are the two commands that settle an effect.
func (a *app) settleWith(run, step string) string {
	step = quoted(step)
	return a.cmd(fmt.Sprintf("resolve %s %s --happened @reply.json", run, step)) + "\n" +
		a.cmd(fmt.Sprintf("resolve %s %s --did-not-happen", run, step))
}

// evidence is what is known of how an effect's attempt ended.
func evidence(ev *runtime.Evidence) string {
	text := toolabi.CleanLine(ev.Err.Message, 500)
	if ev.Sent > 0 && !strings.Contains(text, "bytes were sent") {
		text = fmt.Sprintf("%d bytes were sent, then: %s", ev.Sent, text)
	}
	return text
}

func (a *app) failedProblem(f *runtime.FailedError) problem {
	p := problem{code: codeFailed, next: a.cmd("show " + f.Run)}
	switch {
	case f.Outcome == journal.Cancelled:
		p.code = codeCancelled
	case errors.Is(f, toolabi.Denied):
		p.code = codeDenied
	case f.Err != nil && f.Err.Code.IsLimit():
		p.code = codeLimit
	}
	return p
}

// journalProblem knows what can be wrong with a journal.
func (a *app) journalProblem(err error) (problem, bool) {
	var found *damageError
	if errors.As(err, &found) {
		return problem{code: found.code, known: strings.Join(found.known, "\n"), next: found.next}, true
	}
	if held := (*boltdb.HeldError)(nil); errors.As(err, &held) && held.Stopped {
		return problem{code: codeBusy, next: fmt.Sprintf("kill -CONT %d\nthe same command", held.PID)}, true
	}
	return known(err, []sentinel{
		{runtime.ErrNoArtifact, codeNoArtifact, ""},
		{journal.ErrNoJournal, codeNoJournal, "wrun call TOOL.wasm NAME '{}'"},
		{journal.ErrForeign, codeForeign, "say --journal FILE"},
		{journal.ErrNewer, codeNewer, ""},
		{journal.ErrOlder, codeOlder, "the same command without --no-migrate"},
		{journal.ErrImported, codeImported, ""},
		{journal.ErrRemoved, codeRemoved, a.cmd("ls --removed") + "\na new run needs another --id"},
		{journal.ErrDamaged, codeDamaged, a.cmd("verify")},
		{journal.ErrBusy, codeBusy, "try again"},
		{journal.ErrNoSpace, codeNoSpace, ""},
		{journal.ErrUnusable, codeJournal, a.cmd("ls")},
		{journal.ErrNotFound, codeNoRun, a.cmd("ls")},
	})
}

// sentinel is an error that says all by itself.
type sentinel struct {
	is   error
	code code
	next string
}

// known finds the first of some errors that err is.
func known(err error, of []sentinel) (problem, bool) {
	for _, k := range of {
		if errors.Is(err, k.is) {
			return problem{code: k.code, next: k.next}, true
		}
	}
	return problem{}, false
}

// inputProblem knows what can be wrong with what the user gave.
func (a *app) inputProblem(err error) (problem, bool) {
	var (
		wrong *usageError
		other *runtime.OtherRunError
		load  *sandbox.LoadError
		text  *plan.Error
		typed *tooltoml.Mistake
		coded *codedError
		asked *notAskedError
		path  *fs.PathError
		tool  *toolabi.Error

		ungranted *runtime.UngrantedError
		secret    *runtime.SecretError
		notIn     *runtime.NotInRunError
		ambiguous *ambiguousError
	)
	switch {
	case errors.As(err, &ambiguous):
		return a.ambiguousProblem(ambiguous), true
	case errors.As(err, &notIn):
		return problem{code: codeUsage, next: a.cmd("show " + notIn.Run)}, true
	case errors.As(err, &coded):
		if coded.code == codeConfig || coded.code == codeScript || coded.code == codeCases { // each mistake has a line
			return problem{code: coded.code, title: err.Error()}, true
		}
		if coded.code == codeNoChoice {
			return problem{code: coded.code, next: a.cmd("ls")}, true
		}
		return problem{code: coded.code}, true
	case errors.As(err, &asked):
		return problem{code: codeNotAgreed, next: asked.yes}, true
	case errors.As(err, &wrong):
		return problem{code: codeUsage, next: wrong.command + " --help"}, true
	case errors.As(err, &other):
		return problem{code: codeOtherRun, next: a.cmd("resume " + other.Run)}, true
	case errors.As(err, &ungranted):
		return problem{code: codeUngranted, next: "the same command, with " + strings.Join(dirFlags(ungranted.Dirs), " "), unbegun: true}, true
	case errors.As(err, &secret):
		return problem{code: codeSecret}, true
	case errors.As(err, new(*runtime.LabelError)):
		return problem{code: codeUsage, next: "wrun label --help"}, true
	case errors.Is(err, runtime.ErrNoInput):
		return problem{code: codeUsage, next: "say it without --input"}, true
	case errors.Is(err, runtime.ErrNoKey):
		return problem{code: codeUsage, next: "say --did-not-happen without --new-key"}, true
	case errors.As(err, &text):
		return problem{code: codePlan, title: err.Error()}, true
	case errors.As(err, &typed):
		return problem{code: codeManifest, title: err.Error()}, true
	case errors.As(err, &load):
		p := problem{code: codeModule}
		switch load.Kind {
		case sandbox.Capability:
			p.code = codeUntrusted
		case sandbox.TooBig:
			p.code = codeTooBig
		case sandbox.CompileBudget:
			p.code = codeCompile
		}
		return p, true
	case errors.Is(err, sandbox.ErrCache):
		return problem{code: codeCache, next: "the same command, with WRUN_CACHE=DIRECTORY before it"}, true
	case errors.As(err, &tool) && tool.Code == toolabi.BadInput:
		return problem{code: codeInput, title: toolabi.CleanLine(tool.Message, 2048)}, true
	case errors.As(err, &path):
		return problem{code: codeFile}, true
	case strings.HasPrefix(err.Error(), "unknown command"):
		return problem{code: codeUsage, next: "wrun help"}, true // cobra has no type for it
	}
	return problem{}, false
}

// dirFlags are the flags that grant what a program wants.
func dirFlags(dirs []toolabi.Dir) (flags []string) {
	for _, d := range dirs {
		flag := "--dir " + d.Name + "=PATH"
		if d.Write {
			flag += ":rw"
		}
		flags = append(flags, flag)
	}
	return flags
}

// codedError is an error of the command itself, with its code.
type codedError struct {
	code code
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }
