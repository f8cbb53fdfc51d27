// Package warm does ahead, while a module starts, what Go does when a type is first read or written: the codecs build their
// tables for it, the allocator takes the pages that such values lie in, and the stack grows. A host that keeps the image of a
// module that has started, and begins each call with it, so has all that done once and not in every call.
//
// It is no part of a call, and runs no code of a tool's author: a type whose own methods would be called is left out.
package warm

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
)

// Work is what is done for one module. What it comes to depends on the types alone.
type Work struct {
	// Values is how many values may still be made, which bounds how much later a module with many tools starts. What is left
	// out is done in the calls.
	Values int

	read, written, messages []reflect.Type // that are done
}

// Input prepares for the input of a tool, which is read into a value of type t.
func (w *Work) Input(t reflect.Type) {
	w.each(t, &w.read, func(v reflect.Value) {
		if b, err := registry.WriteJSON(v.Interface()); err == nil {
			_ = registry.ReadInput(b, reflect.New(v.Type().Elem()).Interface())
		}
	})
}

// Output prepares for the output of a tool, which is a value of type t.
func (w *Work) Output(t reflect.Type) {
	w.each(t, &w.written, func(v reflect.Value) { _, _ = registry.WriteOutput(v.Elem().Interface()) })
}

// each calls use with a pointer to a value of t, or, where a method would be called, of each of its parts that has none.
func (w *Work) each(t reflect.Type, done *[]reflect.Type, use func(reflect.Value)) {
	if slices.Contains(*done, t) || w.Values <= 0 {
		return
	}
	*done = append(*done, t)
	if plain(t, nil) {
		use(w.sample(t))
		return
	}
	// A nil pointer is written without a call of anything, and the tables for what it could point to are made all the same.
	_, _ = json.Marshal(reflect.Zero(reflect.PointerTo(t)).Interface())
	for part := range parts(t) {
		w.each(part, done, use)
	}
}
