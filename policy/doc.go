// Package policy decides which calls of tools may begin: rules by tool and by a jq condition that say allow, ask or deny.
// docs/policy.md describes the file for those who write one.
//
// A policy grants nothing. What a tool can reach is what its imports, its manifest and the operator's grants say; a policy
// only decides whether a call begins at once, waits for a person, or is denied. It is not a bound on what a call does
// once it has begun either.
//
// The package does not find or open the file, ask a person or remember an answer: the caller does. What it decides depends
// on the text and on the call, on no clock and no environment, so that the same call is decided the same everywhere.
package policy
