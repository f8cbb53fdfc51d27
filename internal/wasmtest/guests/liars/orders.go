package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
)

// Booked is an order as the shop has it.
type Booked struct {
	ID string `json:"id"`
}

// bookRandom puts another body each time that it is called.
func bookRandom(_ context.Context, in Order) (out Booked, err error) {
	token := make([]byte, 8)
	if _, err := rand.Read(token); err != nil {
		return out, err
	}
	return out, shop.Send("PUT", "/orders/"+in.ID, map[string]any{"cents": in.Cents, "token": hex.EncodeToString(token)}, &out)
}

// bookClock puts the time of the call, and so another body each time that it is called.
func bookClock(_ context.Context, in Order) (out Booked, err error) {
	return out, shop.Send("PUT", "/orders/"+in.ID, map[string]any{"cents": in.Cents, "date": time.Now().UTC().Format(time.RFC3339)}, &out)
}

// bookAdds adds one more order each time.
func bookAdds(_ context.Context, in Order) (out Booked, err error) {
	return out, shop.Send("POST", "/orders", map[string]any{"id": in.ID, "cents": in.Cents}, &out)
}

// peek looks at an order where looking ships it.
func peek(_ context.Context, in Order) (out Booked, err error) {
	return out, shop.Fetch("/orders/"+in.ID+"/ship", &out)
}
