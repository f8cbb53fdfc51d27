package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"

	"github.com/wrun-dev/wrun/internal/screen"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// addLogging adds the flags that say how much is said on standard error, and in which form.
func (a *app) addLogging(f *pflag.FlagSet) {
	f.Var(logFormat{&a.logJSON}, "log-format", "how to write what is said on standard error: text, or json for one object per line")
	f.Var(logLevel{a}, "log-level", "what to say on standard error: debug, which is -v, info, warn, or error, which is -q (default info)")
}

// logFormat is a flag: text or json.
type logFormat struct{ json *atomic.Bool }

// String returns the format.
func (l logFormat) String() string {
	if l.json != nil && l.json.Load() {
		return "json"
	}
	return "text"
}

// Set implements pflag.Value.
func (l logFormat) Set(text string) error {
	if text != "text" && text != "json" {
		return errors.New("want text or json")
	}
	l.json.Store(text == "json")
	return nil
}

// Type implements pflag.Value: what stands for the value in help.
func (l logFormat) Type() string { return "FORMAT" }

// logLevel is a flag: the least level of what is said.
type logLevel struct{ a *app }

// String returns "": what is not said is info.
func (l logLevel) String() string { return "" }

// Set implements pflag.Value.
func (l logLevel) Set(text string) error {
	a := l.a
	switch text {
	case "debug", "info", "warn", "error":
		a.verbose, a.quiet, a.warnings = text == "debug", text == "error", text == "warn"
		return nil
	}
	return errors.New("want debug, info, warn or error")
}

// Type implements pflag.Value: what stands for the value in help.
func (l logLevel) Type() string { return "LEVEL" }

// saysAt says whether something of a level is said.
func (a *app) saysAt(level slog.Level) bool {
	switch {
	case a.quiet:
		return level >= slog.LevelError
	case a.warnings:
		return level >= slog.LevelWarn
	case a.verbose:
		return true
	}
	return level >= slog.LevelInfo
}

// log writes a line for people to standard error, or with --log-format json a record. text is cleaned of what a terminal would act upon;
// the attributes are of records alone.
func (a *app) log(level slog.Level, text string, attrs ...slog.Attr) {
	if !a.saysAt(level) {
		return
	}
	a.saying.Lock()
	defer a.saying.Unlock()
	text = toolabi.CleanText(text, maxSaid)
	if a.logJSON.Load() {
		a.logRecord(level, strings.TrimSpace(text), attrs...)
		return
	}
	fmt.Fprintln(a.errOut, text)
}

// notice tells that a signal came; nothing is said behind the last. It waits for nobody else who writes.
func (a *app) notice(text string, last bool) {
	if lines, ok := a.errOut.(*screen.Live); ok && last {
		lines.Close()
	}
	if a.logJSON.Load() {
		a.logRecord(slog.LevelWarn, text)
		return
	}
	fmt.Fprintln(a.errOut, text)
}

// logRecord writes a record, in one piece.
func (a *app) logRecord(level slog.Level, text string, attrs ...slog.Attr) {
	h := slog.NewJSONHandler(visibleWriter{a.errOut}, &slog.HandlerOptions{Level: slog.LevelDebug})
	slog.New(h).LogAttrs(context.Background(), level, text, attrs...)
}

// visibleWriter writes JSON with escapes for what a terminal would act upon.
type visibleWriter struct{ w io.Writer }

// Write implements io.Writer.
func (v visibleWriter) Write(b []byte) (int, error) {
	if _, err := v.w.Write(visible(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// say writes a line for people to standard error, without anything that a terminal would act upon.
func (a *app) say(format string, args ...any) { a.log(slog.LevelInfo, fmt.Sprintf(format, args...)) }

// warn is say for what somebody should look into.
func (a *app) warn(format string, args ...any) { a.log(slog.LevelWarn, fmt.Sprintf(format, args...)) }

// detail writes a line that only -v shows.
func (a *app) detail(format string, args ...any) {
	a.log(slog.LevelDebug, fmt.Sprintf(format, args...))
}

// eventAttrs are the fields of a record about a moment of a run.
func eventAttrs(ev runtime.Event) []slog.Attr {
	as := []slog.Attr{slog.String("run", ev.Run)}
	if ev.Step != "" {
		as = append(as, slog.String("step", string(ev.Step)), slog.String("name", toolabi.CleanLine(ev.Name, 300)))
	}
	if ev.Class != 0 {
		as = append(as, slog.String("class", ev.Class.String()))
	}
	if ev.Text != "" {
		as = append(as, slog.String("text", toolabi.CleanLine(ev.Text, 300)))
	}
	if ev.Driver != "" {
		as = append(as, slog.String("driver", toolabi.CleanLine(ev.Driver, 300)))
	}
	if ev.Outcome != "" {
		as = append(as, slog.String("outcome", ev.Outcome))
	}
	if ev.Err != nil {
		as = append(as, slog.String("error", toolabi.CleanLine(ev.Err.Error(), 300)))
	}
	return as
}

// problemAttrs are the fields of a record about what went wrong: those of the object of --json.
func problemAttrs(p problem) []slog.Attr {
	as := []slog.Attr{slog.String("code", p.code.id), slog.Int("exit", p.exit)}
	for _, l := range []struct{ name, text string }{{"run", p.where}, {"known", p.known}, {"next", p.next}} {
		if l.text != "" {
			as = append(as, slog.String(l.name, toolabi.CleanText(l.text, maxSaid)))
		}
	}
	return as
}
