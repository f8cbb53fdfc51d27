// Package sdks holds the server of package fakemodel against the official clients of both providers: what they understand is
// what the providers say. It is a module of its own, so that nothing of them comes into wrun's.
//
// The versions are not the latest: those have ten times as much code for other services of the providers, and take minutes to
// compile. What is used here is the same in both.
package sdks
