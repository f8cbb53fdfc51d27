package main

import (
	"context"
	"strings"
)

// UpperIn is the input of upper.
type UpperIn struct {
	Text string `json:"text"`
}

// UpperOut is the output of upper.
type UpperOut struct {
	Text string `json:"text"`
}

func upper(_ context.Context, in UpperIn) (UpperOut, error) {
	return UpperOut{Text: strings.ToUpper(in.Text)}, nil
}
