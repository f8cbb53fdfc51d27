package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
)

// Booked is an order as the shop has it.
type Booked struct {
	ID string `json:"id"`
}

// bookRandom puts a token that is the order's own.
func bookRandom(_ context.Context, in Order) (out Booked, err error) {
	token := sha256.Sum256([]byte(in.ID))
	return out, shop.Send("PUT", "/orders/"+in.ID, map[string]any{"cents": in.Cents, "token": hex.EncodeToString(token[:8])}, &out)
}

// bookClock puts the date that it was told.
func bookClock(_ context.Context, in Order) (out Booked, err error) {
	return out, shop.Send("PUT", "/orders/"+in.ID, map[string]any{"cents": in.Cents, "date": in.Date}, &out)
}

// bookAdds names the order itself, so that doing it again changes nothing.
func bookAdds(_ context.Context, in Order) (out Booked, err error) {
	return out, shop.Send("PUT", "/orders/"+in.ID, map[string]any{"cents": in.Cents}, &out)
}

// peek looks at an order.
func peek(_ context.Context, in Order) (out Booked, err error) {
	return out, shop.Fetch("/orders/"+in.ID, &out)
}
