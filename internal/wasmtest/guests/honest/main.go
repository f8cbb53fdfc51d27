// Command honest is a guest for tests: it has a tool for each of command liars, with the same name and the same task, that keeps the
// promise which the other one breaks.
package main

import (
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("honest", "1.0.0", "Keeps what it promises.",
		sdk.Need(toolabi.FuncHTTPFetch, "to look at orders and shipments"), sdk.Need(toolabi.FuncHTTPSend, "to order, pay and ship"),
		sdk.Need(toolabi.FuncKVPut, "to note"), sdk.Need(toolabi.FuncWorkspaceWrite, "to note"))
	register("book_random", sdk.Tool[Order, Booked]{Idempotency: sdk.Idempotent, Run: bookRandom})
	register("book_clock", sdk.Tool[Order, Booked]{Idempotency: sdk.Idempotent, Run: bookClock})
	register("book_adds", sdk.Tool[Order, Booked]{Idempotency: sdk.Idempotent, Run: bookAdds})
	register("peek", sdk.Tool[Order, Booked]{Idempotency: sdk.ReadOnly, Run: peek})
	register("pay_forgets", sdk.Tool[Order, Payment]{Idempotency: sdk.Keyed, KeyTTL: 24 * time.Hour, Retry: again, Run: payForgets})
	register("pay_insists", sdk.Tool[Order, Payment]{Idempotency: sdk.Keyed, KeyTTL: 24 * time.Hour, Run: payInsists})
	register("pay_otherwise", sdk.Tool[Order, Payment]{Idempotency: sdk.Keyed, KeyTTL: 24 * time.Hour, Retry: again, Run: payOtherwise})
	register("ship_yes", sdk.Tool[Order, Shipment]{Lookup: "says", Settle: time.Minute, Run: ship})
	register("ship_no", sdk.Tool[Order, Shipment]{Lookup: "says", Settle: time.Minute, Run: ship})
	register("ship_wrong", sdk.Tool[Order, Shipment]{Lookup: "says", Settle: time.Minute, Run: ship})
	register("ship_soon", sdk.Tool[Order, Shipment]{Lookup: "says", Settle: 15 * time.Minute, Run: ship})
	register("says", sdk.Tool[sdk.LookupInput, sdk.LookupOutput]{Idempotency: sdk.ReadOnly, Run: says})
	register("name_it", sdk.Tool[Order, Named]{Run: nameIt})
	register("stamp", sdk.Tool[Order, Label]{Idempotency: sdk.Pure, Run: stamp})
	register("draw", sdk.Tool[Order, Label]{Idempotency: sdk.Pure, Run: draw})
	register("take_back", sdk.Tool[Order, Shipment]{Compensate: "undo", Run: ship})
	register("undo", sdk.Tool[sdk.CompensateInput, Undone]{Idempotency: sdk.Idempotent, Run: undo})
}

// again lets a failed call be tried once more.
var again = sdk.Retry{Attempts: 2, Backoff: time.Minute}

func register[In, Out any](name string, t sdk.Tool[In, Out]) {
	t.Name, t.Description = name, "Is for tests."
	sdk.Register(t)
}

func main() {}

// Order is the input of every tool.
type Order struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents,omitempty"`
	// Date is the day that the order is for.
	Date string `json:"date,omitempty"`
}
