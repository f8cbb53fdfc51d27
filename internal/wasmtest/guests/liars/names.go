package main

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
)

// Named is a thing as the shop has it.
type Named struct {
	Name string `json:"name"`
}

// nameIt makes a name from a generator that was seeded when the module was loaded: it is the same in every call.
func nameIt(_ context.Context, in Order) (out Named, err error) {
	out.Name = fmt.Sprintf("%s-%08x", in.ID, rand.Uint32())
	return out, shop.Send("POST", "/things", out, &struct{}{})
}

// Label is what a tool without effects returns.
type Label struct {
	Text string `json:"text"`
}

// stamp puts the time on a label.
func stamp(_ context.Context, in Order) (Label, error) {
	return Label{in.ID + " of " + time.Now().UTC().Format(time.RFC3339)}, nil
}

// draw puts a random number on a label.
func draw(_ context.Context, in Order) (out Label, err error) {
	b := make([]byte, 4)
	if _, err := crand.Read(b); err != nil {
		return out, err
	}
	return Label{in.ID + "-" + hex.EncodeToString(b)}, nil
}
