//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

type listenKey struct{}

func listen(ts *testscript.TestScript, neg bool, args []string) {
	ts.Fatalf("listening to a process is not done here")
}

func hears(ts *testscript.TestScript, neg bool, args []string) { listen(ts, neg, args) }
