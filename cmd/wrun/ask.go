package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// canAsk says whether there is somebody to ask.
func (a *app) canAsk() bool {
	f, ok := a.in.(*os.File)
	return ok && isTerminal(f)
}

// notAskedError says that there is nobody to ask, so that nothing was done.
type notAskedError struct {
	whether string // what would have been asked, such as "whether to add it"
	yes     string // the command that asks nobody
}

func (e *notAskedError) Error() string {
	return "nobody can be asked " + e.whether + ": there is no terminal; nothing was done"
}

// ask asks somebody for a yes, and returns nil for one. Errors: a codedError for anything else; the cause of ctx's end when a
// signal came before the answer.
func (a *app) ask(ctx context.Context, question string) error {
	a.saying.Lock()
	fmt.Fprint(a.errOut, question+" [y/N] ")
	a.saying.Unlock()
	type reply struct {
		line string
		err  error
	}
	got := make(chan reply, 1)
	go func() { // ends with the process at the latest: a read of a terminal cannot be broken off
		line, err := bufio.NewReader(io.LimitReader(a.in, 1024)).ReadString('\n')
		got <- reply{line, err}
	}()
	select {
	case r := <-got:
		if answer := strings.ToLower(strings.TrimSpace(r.line)); r.err == nil && (answer == "y" || answer == "yes") && ctx.Err() == nil {
			return nil
		}
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &codedError{codeNotAgreed, errors.New("nothing was done")}
}
