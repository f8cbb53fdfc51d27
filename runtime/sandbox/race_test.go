//go:build race

package sandbox_test

// raced says that the race detector is in, with which everything takes many times the time and memory.
const raced = true
