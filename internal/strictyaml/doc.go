// Package strictyaml reads the YAML files that people write for wrun, plans and policies, so that they are equally strict:
// one document, no aliases, anchors, merge keys or tags, keys that are strings and there once, the scalars of JSON, and
// every mistake with its place.
//
// It does not know what a file means. What it returns are the nodes as they were written; which fields there are is its
// caller's business.
package strictyaml
