// Package sdks holds the server of package fakemodel against the official clients of both providers: what they understand is
// what the providers say. It is a module of its own, so that nothing of them comes into wrun's.
package sdks
