// Package journal says what a log is: its entries, the rules by which it may grow, and what a store of logs must do.
//
// A run is a log. It grows by one operation, compare-and-append: add these entries, all or none, if the log is exactly
// this long. State.Apply holds the rules, and is the only copy of them; every store calls it inside its Append.
//
// The package is not a store (boltdb and journaltest have those) and knows nothing of tools, modules or messages:
// bodies are opaque bytes to it.
package journal
