package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
)

// Named is a thing as the shop has it.
type Named struct {
	Name string `json:"name"`
}

// nameIt makes a name from randomness that is the call's own.
func nameIt(_ context.Context, in Order) (out Named, err error) {
	b := make([]byte, 4)
	if _, err := rand.Read(b); err != nil {
		return out, err
	}
	out.Name = in.ID + "-" + hex.EncodeToString(b)
	return out, shop.Send("POST", "/things", out, &struct{}{})
}

// Label is what a tool without effects returns.
type Label struct {
	Text string `json:"text"`
}

// stamp puts the date that it was told on a label.
func stamp(_ context.Context, in Order) (Label, error) { return Label{in.ID + " of " + in.Date}, nil }

// draw puts a number on a label that the order has already.
func draw(_ context.Context, in Order) (Label, error) {
	return Label{in.ID + "-" + hex.EncodeToString([]byte(in.ID))}, nil
}
