package jq

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Refs are what an expression looks at in its context, which is the object that is its "." at the beginning.
type Refs struct {
	// Names are fields of the context that it looks at, each once.
	Names []string
	// Whole says that it may look at others too: at the context as a whole, or at a field whose name it computes.
	Whole bool
}

// looker finds out, without running it, what an expression looks at and what it must not use. It walks the syntax tree
// and keeps track of where "." is still the whole context: there a field is one of the context. Where it cannot tell,
// Whole is set, and nothing is said about the fields.
type looker struct {
	Refs
	at      Place
	refused string // the first thing that is not allowed
}

func look(q *gojq.Query, at Place) (seen Refs, refused string) {
	r := looker{at: at}
	r.query(q, true)
	return r.Refs, r.refused
}

func (r *looker) name(s string) {
	if !slices.Contains(r.Names, s) {
		r.Names = append(r.Names, s)
	}
}

func (r *looker) refuse(reason string) {
	if r.refused == "" {
		r.refused = reason
	}
}

// query walks q; root says whether "." is the context there.
func (r *looker) query(q *gojq.Query, root bool) {
	if q == nil {
		return
	}
	if q.Meta != nil || len(q.Imports) > 0 {
		r.refuse("modules are not available in " + r.at.Name)
	}
	for _, f := range q.FuncDefs {
		r.query(f.Body, false) // calling it sets Whole
	}
	switch {
	case q.Term != nil:
		r.term(q.Term, root)
	case q.Right == nil:
	case q.Op == gojq.OpPipe:
		r.query(q.Left, root)
		r.patterns(q.Patterns, root)
		r.query(q.Right, root && len(q.Patterns) > 0)
	case q.Op >= gojq.OpAssign: // the updates: their result is the context, changed
		r.Whole = r.Whole || root
		r.query(q.Left, false)
		r.query(q.Right, false)
	default:
		r.query(q.Left, root)
		r.query(q.Right, root)
	}
}

func (r *looker) term(t *gojq.Term, root bool) {
	if t == nil {
		return
	}
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeRecurse:
		r.identity(t, root)
	case gojq.TermTypeIndex:
		r.field(t.Index, root)
		r.index(t.Index, root)
	case gojq.TermTypeFunc:
		r.call(t.Func, root)
	case gojq.TermTypeObject:
		r.object(t.Object, root)
	case gojq.TermTypeArray:
		r.query(t.Array.Query, root)
	case gojq.TermTypeUnary:
		r.term(t.Unary.Term, root)
	case gojq.TermTypeFormat, gojq.TermTypeString:
		r.Whole = r.Whole || root && t.Str == nil
		r.str(t.Str, root)
	case gojq.TermTypeQuery:
		r.query(t.Query, root)
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber, gojq.TermTypeBreak:
	default:
		r.control(t, root)
	}
	for _, s := range t.SuffixList {
		r.index(s.Index, root) // what is in the brackets sees the "." of the whole term
	}
}

func (r *looker) control(t *gojq.Term, root bool) {
	switch t.Type {
	case gojq.TermTypeIf:
		r.query(t.If.Cond, root)
		r.query(t.If.Then, root)
		for _, e := range t.If.Elif {
			r.query(e.Cond, root)
			r.query(e.Then, root)
		}
		r.Whole = r.Whole || root && t.If.Else == nil // no else means "."
		r.query(t.If.Else, root)
	case gojq.TermTypeTry:
		r.query(t.Try.Body, root)
		r.query(t.Try.Catch, false)
	case gojq.TermTypeReduce:
		r.query(t.Reduce.Query, root)
		r.patterns(t.Reduce.Patterns, root)
		r.query(t.Reduce.Start, root)
		r.query(t.Reduce.Update, false)
	case gojq.TermTypeForeach:
		r.query(t.Foreach.Query, root)
		r.patterns(t.Foreach.Patterns, root)
		r.query(t.Foreach.Start, root)
		r.query(t.Foreach.Update, false)
		r.query(t.Foreach.Extract, false)
	case gojq.TermTypeLabel:
		r.query(t.Label.Body, root)
	default:
		r.Whole = true
		r.refuse("this form is not available in " + r.at.Name)
	}
}

// identity is "." or "..", perhaps with a field behind: . ["charge"].
func (r *looker) identity(t *gojq.Term, root bool) {
	if t.Type == gojq.TermTypeIdentity && len(t.SuffixList) > 0 && t.SuffixList[0].Index != nil {
		r.field(t.SuffixList[0].Index, root)
		return
	}
	r.Whole = r.Whole || root
}

// field is one that is taken of the context.
func (r *looker) field(x *gojq.Index, root bool) {
	if !root {
		return
	}
	switch {
	case x.Name != "":
		r.name(x.Name)
	case x.Str != nil && x.Str.Queries == nil:
		r.name(x.Str.Str)
	default:
		if s, ok := constant(x.Start); ok && !x.IsSlice {
			r.name(s)
		} else {
			r.Whole = true
		}
	}
}

// index walks what is inside the brackets of an index.
func (r *looker) index(x *gojq.Index, root bool) {
	if x == nil {
		return
	}
	r.str(x.Str, root)
	r.query(x.Start, root)
	r.query(x.End, root)
}

func (r *looker) call(f *gojq.Func, root bool) {
	if reason := r.at.refusal(f.Name, func(i int) (string, bool) {
		if i >= len(f.Args) {
			return "", false
		}
		return constant(f.Args[i])
	}); reason != "" {
		r.refuse(reason)
	}
	if root && !strings.HasPrefix(f.Name, "$") {
		r.Whole = true
	}
	for _, a := range f.Args {
		r.query(a, false) // its "." is up to the function
	}
}

func (r *looker) object(o *gojq.Object, root bool) {
	for _, kv := range o.KeyVals {
		if kv.Val == nil && root {
			switch {
			case kv.Key != "" && !strings.HasPrefix(kv.Key, "$"):
				r.name(kv.Key)
			case kv.KeyString != nil && kv.KeyString.Queries == nil:
				r.name(kv.KeyString.Str)
			case kv.Key == "":
				r.Whole = true
			}
		}
		if _, no := refused[kv.Key]; no && strings.HasPrefix(kv.Key, "$") {
			r.refuse(r.at.refusal(kv.Key, nil))
		}
		r.str(kv.KeyString, root)
		r.query(kv.KeyQuery, root)
		r.query(kv.Val, root)
	}
}

func (r *looker) str(s *gojq.String, root bool) {
	if s == nil {
		return
	}
	for _, q := range s.Queries {
		r.query(q, root)
	}
}

// patterns may compute the keys that they take apart; what those see is left open.
func (r *looker) patterns(ps []*gojq.Pattern, root bool) {
	for _, p := range ps {
		r.patterns(p.Array, root)
		for _, o := range p.Object {
			r.Whole = r.Whole || root && (o.KeyQuery != nil || o.KeyString != nil)
			r.str(o.KeyString, false)
			r.query(o.KeyQuery, false)
			if o.Val != nil {
				r.patterns([]*gojq.Pattern{o.Val}, root)
			}
		}
	}
}

// constant returns the string that q is, if it is one.
func constant(q *gojq.Query) (string, bool) {
	if q == nil || q.Term == nil || q.Term.Type != gojq.TermTypeString || len(q.Term.SuffixList) > 0 ||
		q.Term.Str == nil || q.Term.Str.Queries != nil || len(q.FuncDefs) > 0 {
		return "", false
	}
	return q.Term.Str.Str, true
}
