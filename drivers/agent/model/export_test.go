package model

import (
	"bytes"
	"io"
)

// What tests look into.
var (
	RetryAfterOf = retryAfter
	ErrorMessage = errorMessage
	Valid        = valid
)

// EventsOf returns the events in b, each as its name and its data.
func EventsOf(b []byte) ([]string, error) {
	r := newEventReader(bytes.NewReader(b))
	var all []string
	for {
		e, err := r.next()
		if err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
		all = append(all, e.name+"/"+string(e.data))
	}
}

// Assemble puts the events in b together as Send does.
func Assemble(c Client, b []byte) (Answer, string, error) {
	var text []byte
	x := exchange{client: c.(*client), attempt: Attempt{Progress: func(_ int64, s string) { text = append(text, s...) }}}
	a, err := x.receiveStream(&meter{r: bytes.NewReader(b), max: maxStream})
	return a, string(text), err
}
