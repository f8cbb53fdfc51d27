// Package hostfuncs has what tools can ask of the host, as plain Go from request to reply: one file for each function,
// its messages in toolabi under the same name.
//
// It knows neither WebAssembly nor the journal. Whether a function may be used now, whether its answer is already
// known, and what is written down before and after it, is decided by runtime before a function here is called.
package hostfuncs
