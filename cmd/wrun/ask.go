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
	answer, err := a.readLine(ctx, question+" [y/N] ")
	if answer = strings.ToLower(answer); err == nil && answer != "y" && answer != "yes" {
		err = &codedError{codeNotAgreed, errors.New("nothing was done")}
	}
	return err
}

// readLine asks for a line and returns it without the space around it; "" also where there is none. Errors: the cause of ctx's end when
// a signal came before the line.
func (a *app) readLine(ctx context.Context, question string) (string, error) {
	a.saying.Lock()
	fmt.Fprint(a.errOut, question)
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
		if r.err == nil && ctx.Err() == nil {
			return strings.TrimSpace(r.line), nil
		}
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return "", nil
}
