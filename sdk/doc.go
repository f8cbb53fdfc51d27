// Package sdk is what the author of a tool imports: it registers tools, describes them to wrun and reaches the host.
//
// A module is a Go program built with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared. Its init names the module with
// Module and its tools with Register; its main is empty and never runs. A tool is a function from an input struct to an
// output struct, and goes out into the world through the functions of this package only: Log, Progress, Clock, Random,
// HTTPFetch, HTTPSend, Approve, Sleep, SleepUntil, CallTool, SecretHas, ConfigGet, MailSend, and those whose names begin with KV,
// Artifact and Workspace. Built for any other platform the same code is plain Go, and package sdktest runs it under go test
// against a world that the test makes up.
//
// # What is the same in every call
//
// Each call begins in a clean copy of the memory that init left behind. What init draws at random is drawn once: the
// seed of math/rand, of math/rand/v2 and of Go's map order is part of that copy, so that names made from it repeat from
// call to call. Names, keys and identifiers come from Random, which the host answers and records.
//
// # How a tool fails
//
// A tool returns an error: one made by Fail, one that a host function returned, or any other, which counts as
// toolabi.Failed with its text. A panic is a bug and is not caught: the Go runtime writes the reason to the standard
// error and traps, and the host reports toolabi.Trapped.
//
// It is not a client of wrun: programs that start runs use the root package.
package sdk
