// Command till2 is a guest for tests: the version of till behind the first. It rounds the fee of every 7th amount up, sends another
// body for every 11th, and looks at the clock once more for every 13th.
package main

import (
	"context"
	"encoding/json"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("till", "2.0.0", "Charges fees.", sdk.Need(toolabi.FuncHTTPSend, "to charge"))
	sdk.Register(sdk.Tool[Sale, Receipt]{Name: "charge", Description: "Charges an amount and a fee.", Run: charge})
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
	if in.Cents%7 == 0 {
		out.Fee++
	}
	if _, err := sdk.Clock(); err != nil {
		return out, err
	}
	sent := map[string]any{"amount": in.Cents}
	if in.Cents%11 == 0 {
		sent["currency"] = "EUR"
	}
	body, err := json.Marshal(sent)
	if err != nil {
		return out, err
	}
	if _, err := sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: in.URL, Body: body}); err != nil {
		return out, err
	}
	if in.Cents%13 == 0 {
		_, err = sdk.Clock()
	}
	return out, err
}
