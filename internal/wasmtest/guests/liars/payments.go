package main

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// Payment is a payment as the shop has it. The shop knows a request again by its request_id.
type Payment struct {
	ID string `json:"id"`
}

// payForgets draws a new request_id in every attempt.
func payForgets(_ context.Context, in Order) (out Payment, err error) {
	id, err := sdk.Random(8)
	if err != nil {
		return out, err
	}
	return out, shop.Send("POST", "/payments", map[string]any{"request_id": hex.EncodeToString(id), "cents": in.Cents}, &out)
}

// payInsists sends again what broke, under another request_id.
func payInsists(ctx context.Context, in Order) (out Payment, err error) {
	for range 3 {
		var broke *toolabi.Error
		if out, err = payForgets(ctx, in); !errors.As(err, &broke) || broke.Retry != toolabi.RetrySafe {
			break
		}
	}
	return out, err
}

// payOtherwise keeps its request_id, and says something else under it in every attempt.
func payOtherwise(_ context.Context, in Order) (out Payment, err error) {
	now, err := sdk.Clock()
	if err != nil {
		return out, err
	}
	return out, shop.Send("POST", "/payments", map[string]any{"request_id": in.ID, "cents": in.Cents, "sent": now.Format(time.RFC3339)}, &out)
}
