package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/toolabi"
)

// The bounds of what --jq does with one line. An endless expression is stopped after about a second.
const (
	filterWork   = 10_000_000
	filterSize   = 64 << 20
	filterNumber = 4096
)

// filter is the flag --jq: an expression that every line of JSON goes through on its way to standard output.
type filter struct {
	app  *app
	text string
	expr *jq.Expr
}

// String returns the expression.
func (f *filter) String() string { return f.text }

// Type implements pflag.Value: what stands for the value in help.
func (f *filter) Type() string { return "EXPRESSION" }

// Set implements pflag.Value. One that cannot be understood is refused here, before anything is done.
func (f *filter) Set(text string) (err error) {
	if text == "" {
		return errors.New("there is no expression; . is the line as it is")
	}
	f.text, f.app.json = text, true
	f.expr, _, err = jq.Compile(text, jq.Place{Name: "--jq", Hints: map[string]string{
		"input": "each line is given by itself, as .", "inputs": "each line is given by itself, as .",
	}})
	return err
}

// document writes one value of JSON, through the expression of --jq if there is one. What it gives is written one a line: a
// string as it is and null as an empty line, as others who have --jq do it, everything else as JSON.
func (a *app) document(doc []byte) error {
	if a.filter.expr == nil {
		return a.write(append(doc[:len(doc):len(doc)], '\n'))
	}
	root, err := jq.Decode(doc, filterNumber)
	if err != nil {
		return filterError(err)
	}
	// Bounded by its work, so that no context is needed to end it.
	for v, err := range a.filter.expr.Values(context.Background(), root, jq.NewWork(filterWork), filterSize) {
		if err != nil {
			return filterError(err)
		}
		text, err := a.filtered(v)
		if err != nil {
			return filterError(err)
		}
		if err := a.write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// filtered is a value as --jq writes it. A terminal gets nothing of a string that it would act upon.
func (a *app) filtered(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if f, ok := a.out.(*os.File); ok && isTerminal(f) {
			v = toolabi.CleanText(v, len(v))
		}
		return []byte(v), nil
	}
	text, err := jq.Marshal(v)
	return visible(text), err
}

func filterError(err error) error {
	return &codedError{codeFilter, fmt.Errorf("--jq: %w", err)}
}

// compacted is a value of JSON on one line, whatever is inside of it as it was.
func compacted(doc []byte) []byte {
	var b bytes.Buffer
	if bytes.IndexByte(doc, '\n') < 0 || json.Compact(&b, doc) != nil {
		return doc
	}
	return b.Bytes()
}
