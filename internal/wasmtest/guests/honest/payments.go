package main

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// Payment is a payment as the shop has it. The shop knows a request again by its request_id.
type Payment struct {
	ID string `json:"id"`
}

// payForgets has the order's id as its request_id.
func payForgets(_ context.Context, in Order) (out Payment, err error) {
	return out, shop.Send("POST", "/payments", map[string]any{"request_id": in.ID, "cents": in.Cents}, &out)
}

// payInsists sends again what broke, as it was: its request_id is drawn once.
func payInsists(_ context.Context, in Order) (out Payment, err error) {
	id, err := sdk.Random(8)
	if err != nil {
		return out, err
	}
	for range 3 {
		var broke *toolabi.Error
		err = shop.Send("POST", "/payments", map[string]any{"request_id": hex.EncodeToString(id), "cents": in.Cents}, &out)
		if !errors.As(err, &broke) || broke.Retry != toolabi.RetrySafe {
			break
		}
	}
	return out, err
}

// payOtherwise says the same in every attempt.
func payOtherwise(_ context.Context, in Order) (out Payment, err error) {
	return out, shop.Send("POST", "/payments", map[string]any{"request_id": in.ID, "cents": in.Cents, "date": in.Date}, &out)
}
