package journal

import "strconv"

// Kind is the kind of an entry. Kinds are append-only.
type Kind uint8

// The kinds of entry.
const (
	// Created is the first entry of every log. Its body says what the run is made of.
	Created Kind = 1
	// Claimed says that from here on Owner decides what the run does.
	Claimed Kind = 2
	// Intent says that a step is about to happen.
	Intent Kind = 3
	// Result says what came of a step.
	Result Kind = 4
	// Record is evidence or a note: it changes no outcome.
	Record Kind = 5
	// Void says that a step did not happen, so that it may be attempted again.
	Void Kind = 6
	// Late is an outcome that came when it could no longer count: from an owner that was fenced, or after a void or
	// the end of the run.
	Late Kind = 7
	// Cancel says that the run starts no further step.
	Cancel Kind = 8
	// Restored says that the log comes from a backup and may be older than the world.
	Restored Kind = 9
	// Finished closes the log.
	Finished Kind = 10
	// Released says that nobody decides any more, and why: the other half of Claimed.
	Released Kind = 11
)

var kindNames = [...]string{
	Created: "created", Claimed: "claimed", Intent: "intent", Result: "result", Record: "record", Void: "void",
	Late: "late", Cancel: "cancel", Restored: "restored", Finished: "finished", Released: "released",
}

// String returns the kind's name, or its number when it has none.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// OnCut says what an intent means that a crash left without a result. It is all that a log knows of a step's class.
type OnCut uint8

// The three meanings.
const (
	// Redo: it may be done again.
	Redo OnCut = 1
	// Doubt: it must not be done again, and nobody knows whether it happened.
	Doubt OnCut = 2
	// Await: nothing happened yet; the result is to come from outside.
	Await OnCut = 3
)

// Outcome says how a step or a run ended.
type Outcome uint8

// The outcomes.
const (
	// OK: the body is a reply.
	OK Outcome = 1
	// Fail: the body is an error.
	Fail Outcome = 2
	// Denied: it was not allowed and not executed; the body is an error.
	Denied Outcome = 3
	// Cancelled: the run was cancelled. For Finished only.
	Cancelled Outcome = 4
)

var outcomeNames = [...]string{OK: "ok", Fail: "failed", Denied: "denied", Cancelled: "cancelled"}

// String returns the outcome's name, or "" for none.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "outcome " + strconv.Itoa(int(o))
}

// Effect says what is known of a step's effect.
type Effect uint8

// What can be known.
const (
	EffectNone    Effect = 1
	EffectUnknown Effect = 2
	EffectApplied Effect = 3
)

// Names of records and releases that the rules know. All others are free.
const (
	// RecordAcknowledged: a person has seen the late entries; the run may go on.
	RecordAcknowledged = "acknowledged"
	// RecordEvidence: what is known of a step whose outcome is not. With EffectNone nothing of it left the host, so that
	// it did not happen.
	RecordEvidence = "evidence"
	// RecordExpired: the step might have been done again, and may not any more; it is in doubt from now on.
	RecordExpired = "expired"
	// RecordConfirmed: a person has confirmed a restored run; it may do what must not be repeated.
	RecordConfirmed = "confirmed"
	// RecordWithdrawn: whoever said yes to a question takes it back before it was used. The answer is no from now on.
	RecordWithdrawn = "withdrawn"

	// RecordImported: the log was imported from a bundle. Where it was not finished, nobody claims it here. Its body is the id of the
	// journal that it comes from; none in what older versions imported.
	RecordImported = "imported"
	// RecordOrigin: what precedes was copied from a log that was imported from the journal whose id is the body.
	RecordOrigin = "origin"

	// StopUncertain: an effect's outcome is unknown, a person must say.
	StopUncertain = "uncertain"
	// StopWaiting: the run waits for a person or a time.
	StopWaiting = "waiting"
	// StopDiverged: the driver or a tool asked for something else than the log holds.
	StopDiverged = "diverged"
	// StopInterrupted: the process was asked to stop.
	StopInterrupted = "interrupted"
	// StopFailed: the host could not go on.
	StopFailed = "failed"
	// StopLimit: the run has taken as much as it may; somebody has to allow more.
	StopLimit = "limit"
)

// Entry is one record of a log. Which fields a kind uses is said at the field; the others are zero.
//
// An entry is immutable once appended. Bodies and digests belong to whoever made the entry; stores copy them.
type Entry struct {
	// Schema is the version of the layout under which the entry was written, at most the constant Schema. Set by Append.
	Schema uint8 `cbor:"0,keyasint"`
	// Seq is the entry's position in the log, from 0. Set by Append.
	Seq uint64 `cbor:"1,keyasint"`
	// Time is when the entry's outcome became known, in nanoseconds since 1970-01-01 UTC, never earlier than the entry before.
	Time int64 `cbor:"2,keyasint"`
	// Kind is what sort of entry it is.
	Kind Kind `cbor:"3,keyasint"`
	// Step is the step of an intent, result, void or late, and of a record that belongs to one.
	Step Step `cbor:"4,keyasint,omitempty"`
	// Name is what the step calls: a tool or a host function. For created the driver, for record what it is evidence
	// of, for released why.
	Name string `cbor:"5,keyasint,omitempty"`
	// Class is the step's class, a number that belongs to whoever drives.
	Class uint8 `cbor:"6,keyasint,omitempty"`
	// OnCut says what the intent means without a result. Intents, and results that had no intent.
	OnCut OnCut `cbor:"7,keyasint,omitempty"`
	// Module is the digest of the module that the step enters.
	Module Digest `cbor:"8,keyasint,omitzero"`
	// Request is the digest of the step's request. Intents, and results that had no intent.
	Request Digest `cbor:"9,keyasint,omitzero"`
	// Key is the idempotency key of the step. Intents of effects, and voids after which the next attempt has another key.
	Key string `cbor:"10,keyasint,omitempty"`
	// SendBy is the last moment at which the first byte of the effect may leave, in nanoseconds since 1970-01-01 UTC. Intents of effects.
	SendBy int64 `cbor:"11,keyasint,omitempty"`
	// Started is the call's virtual start, in nanoseconds since 1970-01-01 UTC. Intents of calls.
	Started int64 `cbor:"12,keyasint,omitempty"`
	// Seed is where the call's randomness comes from. Intents of calls.
	Seed Digest `cbor:"13,keyasint,omitzero"`
	// Owner is the process that appends. All kinds but created, record, cancel, restored, and the result of an Await.
	Owner string `cbor:"14,keyasint,omitempty"`
	// Lease is when the claim ends by itself, in nanoseconds since 1970-01-01 UTC; 0: it lasts as long as the owner's process. Claimed.
	Lease int64 `cbor:"15,keyasint,omitempty"`
	// Outcome says how it ended. Result, late, finished.
	Outcome Outcome `cbor:"16,keyasint,omitempty"`
	// Effect is what is known of the effect. Results of steps whose OnCut is Doubt, results of attempts of which a driver knows
	// exactly, records of evidence.
	Effect Effect `cbor:"17,keyasint,omitempty"`
	// Retry says that the outcome permits another attempt. Results.
	Retry bool `cbor:"18,keyasint,omitempty"`
	// Abandon says that a run is finished although effects of it are in doubt. Finished.
	Abandon bool `cbor:"19,keyasint,omitempty"`
	// Body is what the entry is about: a request, a reply, an error, a specification. At most MaxInline bytes.
	Body []byte `cbor:"20,keyasint,omitempty"`
	// Blob names the body when it is longer, and Size is its length in bytes.
	Blob Digest `cbor:"21,keyasint,omitzero"`
	Size int64  `cbor:"22,keyasint,omitempty"`
	// Refs are blobs that the entry needs besides. They are stored before the entry is.
	Refs []Digest `cbor:"23,keyasint,omitempty"`
	// Writes are changes of tool state, applied in the same transaction.
	Writes []Write `cbor:"24,keyasint,omitempty"`
	// By says who did it, when it was a person or another program. Note is what they wrote.
	By   string `cbor:"25,keyasint,omitempty"`
	Note string `cbor:"26,keyasint,omitempty"`
	// At is what a tool's clock was told when Time had to move past it because another process appended first; 0 when
	// they are the same. Results.
	At int64 `cbor:"27,keyasint,omitempty"`
	// Due is when time lets something go on by itself, in nanoseconds since 1970-01-01 UTC: what the clock answers
	// (intents of an Await), the next attempt (results that permit one), the whole run (released). 0: time does not.
	Due int64 `cbor:"28,keyasint,omitempty"`
	// Expires is the last moment at which a yes counts, in nanoseconds since 1970-01-01 UTC; 0: for ever. Intents of an Await.
	Expires int64 `cbor:"29,keyasint,omitempty"`
	// Approval is the Request of the question whose yes this intent uses up. Intents of steps that were asked about.
	Approval Digest `cbor:"30,keyasint,omitzero"`
	// Fuel is how much a call computed, in units of whoever entered the module; 0 where that is not counted. Results of calls.
	Fuel uint64 `cbor:"31,keyasint,omitempty"`

	// Hash is the entry's place in the chain: SHA-256 over the hash before and the entry's encoding. Set by Append and
	// Read; a run's first entry follows ChainStart.
	Hash Digest `cbor:"-"`
	// After, when set by the caller of Append on the first entry, is the hash that the log must end with.
	After Digest `cbor:"-"`
}

// Write changes one key of a tool's state.
type Write struct {
	// Space is whose state it is, Key which key; both are UTF-8.
	Space string `cbor:"1,keyasint"`
	Key   string `cbor:"2,keyasint"`
	// Value is the new value; Delete removes the key instead.
	Value  []byte `cbor:"3,keyasint,omitempty"`
	Delete bool   `cbor:"4,keyasint,omitempty"`
	// Expect is the version that the key must have, 0 for a key that must not exist. Append fails with ErrStale otherwise.
	Expect uint64 `cbor:"5,keyasint,omitempty"`
}

// Caps of an entry.
const (
	// MaxInline is the longest body that is kept in the log, in bytes. Longer ones become blobs.
	MaxInline = 64 << 10
	// MaxEntry is the longest encoded entry, in bytes.
	MaxEntry = 256 << 10
	// MaxAppend is how many entries one Append may add.
	MaxAppend = 4096
)

// Known is when the outcome became known to the tool that asked: what its clock shows from then on.
func (e *Entry) Known() int64 {
	if e.At != 0 {
		return e.At
	}
	return e.Time
}

// Phase is the part of an entry's key, beside the run and the step, that no two entries of a log may share: an intent,
// a result and a void are written at most once for a step. Kinds that may come again have phase 0.
func (e *Entry) Phase() uint8 {
	switch e.Kind {
	case Intent, Result, Void:
		return uint8(e.Kind)
	}
	return 0
}

// Names are the blobs that the entry names: its body, where that is one, and its Refs.
func (e *Entry) Names() []Digest {
	if e.Blob.IsZero() {
		return e.Refs
	}
	return append(e.Refs[:len(e.Refs):len(e.Refs)], e.Blob)
}
