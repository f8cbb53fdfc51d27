package main

import (
	"context"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// FailIn is the input of fail.
type FailIn struct {
	Detail  string `json:"detail" doc:"the tool's own word for the failure" minLength:"1" maxLength:"64"`
	Message string `json:"message,omitempty" doc:"what to say to people"`
	Retry   bool   `json:"retry,omitempty" doc:"whether to say that trying again can help"`
}

// FailOut is the output of fail, of which there is none.
type FailOut struct{}

func fail(_ context.Context, in FailIn) (FailOut, error) {
	e := sdk.Fail(in.Detail, in.Message)
	if in.Retry {
		e.Retry = toolabi.RetrySafe
	}
	return FailOut{}, e
}
