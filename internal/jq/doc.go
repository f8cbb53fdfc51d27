// Package jq is the jq of wrun: expressions that give one value of JSON, the same one every time, after a bounded amount
// of work. Whatever lets people write expressions (a plan, a policy) uses it, so that they mean the same everywhere.
//
// An expression sees what it is given and nothing else. The functions of jq that look at the clock, the environment, the
// machine or files are refused when it is compiled. One that does not end is stopped after a number of instructions and
// not after a time, so that it is stopped at the same place everywhere.
//
// It is not a bound on memory: one instruction may use much. Who may write an expression is trusted as much as who may
// write a script. And it does not know what an expression is for: what it may look at, and how it is written in a file,
// is its caller's business.
package jq
