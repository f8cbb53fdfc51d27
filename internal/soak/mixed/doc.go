// Package mixed puts one process under load for as long as it is told, an hour if need be, and judges whether anything grew
// meanwhile: what is resident, what the heap of Go holds, mappings, descriptors, goroutines.
//
// The load goes round in cycles of phases. In each phase some goroutines call tools of several modules at once, honest ones and
// such as trap, leave, run for ever or want more than there is; or a whole host with its journal drives runs; or sandboxes
// are opened, get modules that nobody has seen before, and are closed; or nothing is called at all. Every call is held
// against what it has to come to, so that an instance which was not cleaned, or the output of another call, is found out.
//
// What is compared is the last quarter of the cycles with the second one, each phase with itself: the first is for what a
// process comes to have once. It does not kill anything; that is what package trials does.
package mixed
