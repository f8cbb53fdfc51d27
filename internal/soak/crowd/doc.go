// Package crowd lets many processes of the real program use one journal at once: they start runs that pay, answer, list, look,
// cancel, settle, resume, and do whatever else the program can do with a journal as a whole, and are killed at random. At the end
// every charge has to be accounted for, everything that a command has said must be in the log, and nobody may have waited long
// for another process that was alive.
//
// It knows the program by its command line alone, and leaves out verbs that the program does not have, saying so.
package crowd
