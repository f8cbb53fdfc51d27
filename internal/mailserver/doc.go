// Package mailserver is a small mail server for tests and examples: SMTP on a loopback address, with TLS, logins, and the faults
// that a real one has on a bad day. It keeps what it takes over and delivers nothing.
//
// It is no client and knows nothing of one: what it answers follows from RFC 5321 and its Config alone.
package mailserver
