// Package boltdb keeps a journal in one bbolt file, with a directory of blobs beside it. It is the store that wrun uses
// when nothing else is asked for.
//
// Beside a journal at PATH lie
//
//	PATH.lock       whoever holds its lock has PATH open; its text names the process, for people
//	PATH.wait       held, shared, by everyone who waits for PATH.lock
//	PATH.copy       whoever holds its lock maintains the journal, one at a time; made when it is first needed
//	PATH.blobs/     ab/abcd…: the blobs, by the hexadecimal digits of their digests
//	PATH.owners/    a file for every owner, locked as long as the owner lives; ID.room and ID.room.N hold space and inodes for outcomes
//	PATH.pins/      a directory for every handle that is about to have blobs named, with a file for each of them
//	PATH.pins.lock  held while blobs are pinned, and alone while those are removed that nobody needs
//	PATH.schemaN    the file as it was before a migration from schema N; it shares the blobs
//	PATH.replaced-… a journal that a restore has put aside; so does it
//
// and files that become one of these when they are whole: .NAME.….tmp, .NAME.copy-…, PATH.blobs/new-…
//
// Several processes may use a journal at once: whoever has it open lets the others in between two commits, and closes
// it when idle for a few milliseconds. Correctness does not come from that lock but from compare-and-append.
//
// Files are named for what they are about. A handle is boltdb, gate, file, lock and owners; what runs need of it append, writer, read,
// kv, blobs, pins, room and size; maintenance is maintain with copier, notes and rebuild under backup, compact, export, import and
// restore, and gc with gone and orphans. What believes nothing that a file says, and reads it without bbolt, is inspect, circles, pages,
// account, logs and salvage, for verify and repair.
//
// The package is not for network file systems, where neither locks nor mapped files are what they seem; Open refuses
// those that it can recognise. It repairs nothing in its place: what is damaged is reported and left as it is, and Repair makes a copy.
package boltdb
