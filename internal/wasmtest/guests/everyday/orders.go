package main

import "context"

// Orders is what most tools are given: a list of records.
type Orders struct {
	Orders []Order `json:"orders"`
}

// Order is one of them.
type Order struct {
	ID       int64    `json:"id"`
	Customer string   `json:"customer"`
	Items    []Item   `json:"items"`
	Tags     []string `json:"tags,omitempty"`
	Note     *string  `json:"note"`
	Paid     bool     `json:"paid"`
}

// Item is a line of an order.
type Item struct {
	SKU   string  `json:"sku"`
	Count int     `json:"count"`
	Price float64 `json:"price"`
}

// Bills are the orders that are not paid, with what each one comes to.
type Bills struct {
	Bills []Bill  `json:"bills"`
	Total float64 `json:"total"`
}

// Bill is an order and its sum.
type Bill struct {
	Order
	Sum float64 `json:"sum"`
}

// orders adds up what was not paid yet.
func orders(_ context.Context, in Orders) (Bills, error) {
	var out Bills
	for _, o := range in.Orders {
		if o.Paid {
			continue
		}
		b := Bill{Order: o}
		for _, i := range o.Items {
			b.Sum += float64(i.Count) * i.Price
		}
		out.Bills = append(out.Bills, b)
		out.Total += b.Sum
	}
	return out, nil
}
