package main

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// What liars has no like of: honest tools with whatever could be taken for a lie.
func init() {
	register("watch", sdk.Tool[Order, Watched]{Idempotency: sdk.ReadOnly, Run: watch})
	register("pay_twice", sdk.Tool[Order, []Payment]{Run: payTwice})
	register("note", sdk.Tool[Order, Note]{Run: note})
	register("tell", sdk.Tool[Order, Shipment]{Run: tell})
}

// Watched is how often a tool had to look.
type Watched struct {
	Looks int `json:"looks"`
}

// watch looks at an order until it is done. What it returns depends on how often that is.
func watch(_ context.Context, in Order) (out Watched, err error) {
	for out.Looks = 1; out.Looks < 10; out.Looks++ {
		var state struct{ Done bool }
		if err := shop.Fetch("/orders/"+in.ID+"/state", &state); err != nil || state.Done {
			return out, err
		}
	}
	return out, sdk.Fail("never", "the order is never done")
}

// payTwice pays two parts, whose requests are the same.
func payTwice(_ context.Context, in Order) ([]Payment, error) {
	var out [2]Payment
	for i := range out {
		if err := shop.Send("POST", "/parts", map[string]any{"cents": in.Cents}, &out[i]); err != nil {
			return out[:i], err
		}
	}
	return out[:], nil
}

// Note is what a tool wrote down.
type Note struct {
	Token string    `json:"token"`
	At    time.Time `json:"at"`
	By    string    `json:"by"`
}

// note asks and waits, and leaves a random number and the time in every place that there is.
func note(_ context.Context, in Order) (out Note, err error) {
	token, err := sdk.Random(8)
	if err != nil {
		return out, err
	}
	agreed, err := sdk.Approve(toolabi.ApproveRequest{Text: "May it?"})
	if err != nil {
		return out, err
	}
	if err := sdk.Sleep(time.Hour); err != nil {
		return out, err
	}
	out = Note{Token: hex.EncodeToString(token), By: agreed.By}
	if out.At, err = sdk.Clock(); err != nil {
		return out, err
	}
	if _, err := sdk.KVPut(toolabi.KVPutRequest{Key: in.ID, Value: []byte(out.Token)}); err != nil {
		return out, err
	}
	if err := shop.Send("POST", "/things", out, &struct{}{}); err != nil {
		return out, err
	}
	_, err = sdk.WorkspaceWrite(toolabi.WorkspaceWriteRequest{Path: "notes/" + out.Token, Body: []byte(out.At.Format(time.RFC3339))})
	return out, err
}

// tell ships, and does not mind when nobody can be told.
func tell(ctx context.Context, in Order) (Shipment, error) {
	out, err := ship(ctx, in)
	if err != nil {
		return out, err
	}
	if err := shop.Send("POST", "/news", out, &struct{}{}); err != nil {
		sdk.Logf(toolabi.LevelWarn, "nobody was told: %v", err)
	}
	return out, nil
}
