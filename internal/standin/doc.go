// Package standin is what the servers share that stand in for the world in tests, examples and the demo: a ledger, a provider of
// models, a feed. They listen on loopback, keep what they did in a file before they say so, and hold replies back when they are told
// to. What they do is their own.
package standin
