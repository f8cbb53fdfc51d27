//go:build unix

package main

import (
	"bufio"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

type listenKey struct{}

// listen makes a FIFO for the standard error of a process, and begins to read it: "listen said", then the process with 2>said in a
// shell. "hears said TEXT" waits until a line begins with TEXT, "hears said" until the process has closed it. What it said is
// then in said.txt.
func listen(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(unix.Mkfifo(path, 0o600))
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		f, err := os.Open(path) // waits for somebody who writes
		if err != nil {
			return
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			lines <- s.Text()
		}
	}()
	ts.Defer(func() { // so that it does not wait for ever for a process that was never started
		if f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
	})
	ts.Value(listenKey{}).(map[string]<-chan string)[args[0]] = lines
}

func hears(ts *testscript.TestScript, neg bool, args []string) {
	lines := ts.Value(listenKey{}).(map[string]<-chan string)[args[0]]
	said, err := os.OpenFile(ts.MkAbs(args[0]+".txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer said.Close()
	given := time.After(time.Minute)
	for {
		select {
		case line, more := <-lines:
			if !more && len(args) > 1 {
				ts.Fatalf("it has ended without saying %q", args[1])
			}
			if !more {
				return
			}
			_, err := said.WriteString(line + "\n")
			ts.Check(err)
			if len(args) > 1 && strings.HasPrefix(line, args[1]) {
				return
			}
		case <-given:
			ts.Fatalf("it does not say it")
		}
	}
}
