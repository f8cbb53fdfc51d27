// Command feed is a module of wrun: it reads a JSON feed and returns each of its entries once.
//
// It reads one page of a feed. Feeds in XML are not for it, and neither is what an entry links to.
package main

import (
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("feed", "0.1.0", "Reads a JSON feed and returns each entry once.",
		sdk.Need(toolabi.FuncHTTPFetch, "to read the feed"),
		sdk.Secrets(toolabi.FuncHTTPFetch, tokenName),
		sdk.Need(toolabi.FuncSecretHas, "to find out whether the feed wants a token", tokenName),
		sdk.Need(toolabi.FuncConfigGet, "to know which feed is read, and how many entries are returned at a time", keyURL, keyPage),
		sdk.Need(toolabi.FuncKVGet, "to know which entries were returned", store),
		sdk.Need(toolabi.FuncKVList, "to list the entries that were returned", store),
		sdk.Need(toolabi.FuncKVCAS, "to take an entry before it is returned", store),
		sdk.Need(toolabi.FuncKVPut, "to have the feed read afresh when entries are forgotten", store),
		sdk.Need(toolabi.FuncKVDelete, "to forget entries", store),
	)
	sdk.Register(sdk.Tool[NewIn, NewOut]{
		Name: "new", Description: "Returns the entries of a JSON feed that were not returned before.", Idempotency: sdk.Idempotent,
		Retry: sdk.Retry{Attempts: 3, Backoff: time.Second}, Run: newEntries,
	})
	sdk.Register(sdk.Tool[SeenIn, SeenOut]{
		Name: "seen", Description: "Lists the entries that were returned.", Idempotency: sdk.ReadOnly, Run: seen,
	})
	sdk.Register(sdk.Tool[ForgetIn, ForgetOut]{
		Name: "forget", Description: "Forgets that entries were returned, so that they are returned again.", Idempotency: sdk.Idempotent, Run: forget,
	})
}

func main() {}

const (
	store     = "feed" // the module's own, whose name requests leave out
	tokenName = "feed"
	keyURL    = "url"
	keyPage   = "page"
)
