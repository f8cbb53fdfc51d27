// Package big makes a journal of millions of entries and measures, while it grows, what one run costs in it: to find it, to show
// it, to go on with it. None of that may depend on how much else the journal holds. At the full size it also makes a backup, which
// may not take memory for it, and looks at what restoring that brings back.
//
// It says what it measured and judges only what is no matter of the machine's speed: that everything is there.
package big
