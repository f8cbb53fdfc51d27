// Package world plays the world of a tool: the servers that it talks to, and what they do when it asks. A World is what somebody
// wrote down in YAML; a Live is a World that runs. Every origin and the mail server are played by one listener on loopback, https
// with certificates of an authority that exists as long as the Live, so that host functions reach it as they reach the real ones:
// Config gives them a resolver, a dialer and the authority. Nothing leaves the machine.
//
// A Live remembers what it did, so that what a provider would do to a second request, it does; it outlives the engines, and the
// processes, that talk to it.
//
// It does not run tools and judges no outcome: that is package tooltest. Stores, files, settings, answers of people and other
// modules' tools are data of a World which whoever runs the tool puts into its place.
package world
