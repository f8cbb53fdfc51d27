// Command wrun runs tools in a sandbox, with a journal, and resumes what died.
//
// Each verb is a file of its own; the list of them is in root.go, what went wrong is turned into words and an exit code
// in report.go, and every code is in codes.go.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/wrun-dev/wrun/internal/screen"
)

// ballastSize is how much memory is counted by the garbage collector and never touched, so that it takes none. Without it a command that
// reads a module of some megabytes and ends would have collected four times, which is a quarter of its processor time.
const ballastSize = 64 << 20

func main() {
	var ballast []byte
	if len(os.Args) < 2 || os.Args[1] != compileModule { // whose memory is limited by what it might touch
		ballast = make([]byte, ballastSize)
	}
	a := &app{in: os.Stdin, out: os.Stdout, errOut: screen.NewLive(os.Stderr)}
	ctx, stop := watchSignals(context.Background(), a.notice)
	code := a.main(ctx, os.Args[1:])
	stop()
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// Main runs the command with the arguments after its name, and returns its exit code.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return (&app{in: in, out: out, errOut: errOut}).main(ctx, args)
}

func (a *app) main(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errOut)
	c, err := root.ExecuteContextC(ctx)
	if wrong := c.ValidateFlagGroups(); wrong != nil { // flags that do not go together, which nothing was run with
		err = usage(c, "%v", wrong)
	}
	a.live().close()
	a.keeping = upkeep[c.Name()]
	a.json = a.json || errors.As(err, new(*usageError)) && wantsJSON(args) // flags behind the mistake have not been read
	code := a.report(ctx, err)
	a.endTelemetry(ctx)
	return code
}

// wantsJSON says whether a command line that could not be understood asks for JSON.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if name, value, _ := strings.Cut(arg, "="); name == "--json" && value != "false" || name == "--jq" {
			return true
		}
	}
	return false
}

// upkeep are the verbs that look at a journal or after it, and drive no run of it: when one of them is stopped, it has done nothing, or some of it wholly.
var upkeep = map[string]bool{"log": true, "crashtest": true, "backup": true, "restore": true, "compact": true, "export": true, "import": true, "verify": true, "gc": true, "wait": true, "bench": true, "doctor": true}

// signalError is the cause of a context that a signal has ended.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return "received " + e.signal.String() }

// lastMoment is how long after the first signal the process ends in any case.
const lastMoment = 1900 * time.Millisecond

// watchSignals ends the context at the first signal, so that what is known is recorded, and the process at the second.
// What is on the disk is right at any instant, so that even that loses nothing. notice is told what happens, and whether it is the last that does.
func watchSignals(ctx context.Context, notice func(text string, last bool)) (context.Context, func()) {
	ignoreFileLimit()
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(signals, s)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		first := true
		for s := range signals {
			sig, _ := s.(syscall.Signal)
			if !first {
				notice("stopped at once: what was in flight is in doubt, and wrun resume says so", true)
				os.Exit(128 + int(sig))
			}
			first = false
			cancel(signalError{sig})
			notice("stopping: what is known is recorded; again to stop at once", false)
			time.AfterFunc(lastMoment, func() { // a tool that cannot be broken off, a disk that does not answer
				notice("stopped: what was in flight is in doubt, and wrun resume says so", true)
				os.Exit(128 + int(sig))
			})
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		<-done
		cancel(nil)
	}
}
