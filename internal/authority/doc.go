// Package authority holds what a module asks for against what an operator grants: what its manifest determines by itself, what of
// some grants it could use at all, what it asks for and was not given, and how two versions of a module differ.
//
// It decides nothing at run time: that is hostfuncs. It is what people are shown before they grant.
package authority
