// Package toolcase reads and writes files of cases: calls of a tool, each with the world that it is made in and with what should
// come of it. Format 1; docs/testing.md describes it.
//
// It runs nothing: that is package tooltest.
package toolcase
