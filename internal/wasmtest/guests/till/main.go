// Command till is a guest for tests: it charges a fee. Guest till2 is its next version, which differs for some inputs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("till", "1.0.0", "Charges fees.", sdk.Need(toolabi.FuncHTTPSend, "to charge"))
	sdk.Register(sdk.Tool[Sale, Receipt]{Name: "charge", Description: "Charges an amount and a fee.", Run: charge})
	sdk.Register(sdk.Tool[struct{}, Lot]{Name: "draw", Description: "Says what was drawn when the module started.", Idempotency: sdk.Pure, Run: draw})
	sdk.Register(sdk.Tool[struct{}, Lot]{Name: "offer", Description: "Asks two people about what was drawn when the module started.", Run: offer})
}

func main() {}

// Sale is what is charged, and where.
type Sale struct {
	URL   string `json:"url"`
	Cents int64  `json:"cents"`
}

// Receipt is what was charged.
type Receipt struct {
	Cents int64 `json:"cents"`
	Fee   int64 `json:"fee"`
}

func charge(_ context.Context, in Sale) (Receipt, error) {
	out := Receipt{Cents: in.Cents, Fee: in.Cents * 3 / 100}
	if _, err := sdk.Clock(); err != nil {
		return out, err
	}
	body, err := json.Marshal(map[string]any{"amount": in.Cents})
	if err != nil {
		return out, err
	}
	_, err = sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: in.URL, Body: body})
	return out, err
}

// Lot is a number that is drawn while the module starts, and the order in which it finds some keys.
type Lot struct {
	Number uint64   `json:"number"`
	Keys   []string `json:"keys"`
}

var (
	lot  = rand.Uint64()
	keys = map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true, "g": true, "h": true, "i": true, "j": true}
)

func draw(context.Context, struct{}) (Lot, error) {
	out := Lot{Number: lot}
	for k := range keys {
		out.Keys = append(out.Keys, k)
	}
	return out, nil
}

// offer asks one person and then another whether they want what was drawn.
func offer(context.Context, struct{}) (Lot, error) {
	for _, who := range []string{"the first", "the second"} {
		if _, err := sdk.Approve(toolabi.ApproveRequest{Text: fmt.Sprintf("%d for %s", lot, who)}); err != nil {
			return Lot{}, err
		}
	}
	return Lot{Number: lot}, nil
}
