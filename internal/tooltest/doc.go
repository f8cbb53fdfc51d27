// Package tooltest runs cases: calls of a tool by the real engine in the real sandbox with the real host functions, on a journal in
// memory and in a world that is played on loopback. It says what came of a case against what was expected, which of the capabilities
// of a manifest no case uses, and whether a tool keeps what it declares.
//
// A Stage is what outlives an engine: Drive drives its call on a handle of the journal until it is over, and can be called again with
// another handle when one was killed.
package tooltest
