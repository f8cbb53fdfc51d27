package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// report writes err to standard error and returns the command's exit code. It is the only place that does either.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	p := a.problem(err)
	if lost := (*runtime.UnrecordedError)(nil); errors.As(err, &lost) {
		p = a.unrecorded(lost)
	}
	var sig signalError
	if errors.As(context.Cause(ctx), &sig) && (errors.Is(err, runtime.ErrInterrupted) || errors.Is(err, context.Canceled) || errors.As(err, &sig)) {
		p.code, p.exit, p.title = codeInterrupted, 128+int(sig.signal), sig.Error()+"; what is known is recorded"
		if a.keeping {
			p.title, p.next = sig.Error()+"; nothing is left half done", "the same command"
		}
	} else if sig.signal != 0 && (p.code == codeUncertain || p.code == codeWaiting) {
		p.exit = 128 + int(sig.signal) // and what is left to do is said
	}
	var of *runError
	if errors.As(err, &of) && !p.unbegun {
		if p.where == "" {
			p.where = of.run
		}
		if p.next == "" {
			p.next = a.nextOfRun(p.code, of.run)
		}
	}
	if p.next == "" && p.code == codeCompile { // before there is a run
		p.next = "the same command, with " + strings.TrimSpace(moreToCompile) + " before it"
	}
	a.saying.Lock()
	defer a.saying.Unlock()
	if a.json {
		a.reportJSON(p)
		return p.exit
	}
	if a.logJSON.Load() {
		a.logRecord(slog.LevelError, toolabi.CleanText(p.title, maxSaid), problemAttrs(p)...)
		return p.exit
	}
	fmt.Fprintf(a.errOut, "error[%s]: %s\n", p.code.id, toolabi.CleanText(p.title, maxSaid))
	for _, l := range []struct{ name, text string }{
		{"run", p.where}, {"known", p.known}, {"next", p.next}, {"why", "wrun explain " + p.code.id},
	} {
		if l.text != "" {
			text := strings.ReplaceAll(toolabi.CleanText(l.text, maxSaid), "\n", "\n         ")
			fmt.Fprintf(a.errOut, "  %-6s %s\n", l.name, text)
		}
	}
	return p.exit
}

// unrecorded says where the replies are that could not be recorded. One that could be saved nowhere is written to standard error,
// without anything that would change its bytes.
func (a *app) unrecorded(e *runtime.UnrecordedError) problem {
	p := problem{code: codeUnrecorded, exit: codeUnrecorded.exit, title: codeUnrecorded.title + ": " + a.problem(e.Err).title}
	var next []string
	for _, u := range e.Replies {
		resolve := fmt.Sprintf("resolve %s %s --happened ", e.Run, quoted(string(u.Step)))
		if u.Path != "" {
			next = append(next, a.cmd(resolve+quoted("@"+u.Path)))
			continue
		}
		a.saying.Lock()
		fmt.Fprintf(a.errOut, "the reply of %s of run %s could not be recorded, nor saved (%s); it is:\n%s\n",
			u.Step, e.Run, toolabi.CleanLine(u.Err.Error(), 500), u.Said)
		a.saying.Unlock()
		next = append(next, a.cmd(resolve+"-")+", with the reply above")
	}
	p.next = strings.Join(next, "\n")
	return p
}

func (a *app) reportJSON(p problem) {
	b, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": p.code.id, "exit": p.exit, "message": p.title, "run": p.where, "known": p.known, "next": p.next,
	}})
	if err == nil {
		fmt.Fprintf(a.errOut, "%s\n", visible(b))
	}
}

// nextOfRun is what to type after a problem with a run for which nothing better is known.
func (a *app) nextOfRun(c code, run string) string {
	switch c {
	case codeInterrupted, codeOutput, codeFilter, codeJournal, codeNoSpace, codeExpired, codeGaveUp, codeMemory, codeDir:
		return a.cmd("resume " + run)
	case codeCompile:
		return moreToCompile + a.cmd("resume "+run)
	case codeOpen:
		return a.cmd("resume "+run) + "\n" + a.cmd("cancel "+run)
	case codeNothingOpen, codeClosed, codeNoStep, codeNothingToUndo, codeContradicted, codeImported:
		return a.cmd("show " + run)
	}
	return ""
}

// cmd is a command to type next, with the same configuration and journal.
func (a *app) cmd(rest string) string {
	if a.journalPath != "" {
		rest = "--journal " + quoted(a.journalPath) + " " + rest
	}
	return a.cmdWithoutJournal(rest)
}

// cmdWithoutJournal is a command to type next that no journal has a part in.
func (a *app) cmdWithoutJournal(rest string) string {
	if a.configDir != "" {
		rest = "--config " + quoted(a.configDir) + " " + rest
	}
	return "wrun " + rest
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// clock shows a time to people, in their zone, with the day when it is not today's.
func clock(ns int64) string {
	t := time.Unix(0, ns)
	if y, m, d := time.Now().Date(); t.Year() == y && t.Month() == m && t.Day() == d {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}
