package jq

import (
	"context"
	"fmt"
	"iter"
)

// Values evaluates the expression with root as its ".", and yields what it gives, one value after the other: each one that JSON
// can say, all of them together of at most maxSize bytes as JSON. It takes its instructions from work. An error is the last
// that is yielded; one after ctx has ended says nothing about the expression.
func (e *Expr) Values(ctx context.Context, root any, work *Work, maxSize int) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		it := e.code.RunWithContext(&meter{Context: ctx, work: work}, root)
		left := checker{max: maxSize, left: maxSize}
		for {
			v, ok, err := next(it.Next)
			if failed, is := v.(error); is && err == nil {
				err = stopped(failed, maxSize)
			}
			if err == nil && ok {
				err = left.value(v, 0)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !ok || !yield(v, nil) {
				return
			}
		}
	}
}

// next takes one value from the interpreter, in which a panic becomes an error.
func next(take func() (any, bool)) (v any, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the interpreter broke off: %v", r)
		}
	}()
	v, ok = take()
	return v, ok, nil
}
