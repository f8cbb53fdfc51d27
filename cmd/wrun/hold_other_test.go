//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

func hold(ts *testscript.TestScript, lock string) { ts.Fatalf("holding a lock is not done here") }
