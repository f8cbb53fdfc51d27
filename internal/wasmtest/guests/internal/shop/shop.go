// Package shop is what guests liars and honest know of the shop that their cases are about.
package shop

import (
	"encoding/json"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// origin is where all of it is done.
const origin = "https://shop.example.com"

// Send asks the shop for something, and reads what it replies. A broken connection may be tried again where the host says so.
func Send(method, path string, body, reply any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	got, err := sdk.HTTPSend(toolabi.HTTPRequest{
		Method: method, URL: origin + path, Body: b, Headers: []toolabi.Header{{Name: "Content-Type", Value: "application/json"}},
	})
	if err != nil {
		return err
	}
	return read(got, reply)
}

// Fetch reads something at the shop.
func Fetch(path string, reply any) error {
	got, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: origin + path})
	if err != nil {
		return err
	}
	return read(got, reply)
}

func read(got toolabi.HTTPReply, reply any) error {
	if got.Status/100 != 2 {
		return sdk.Fail("refused", fmt.Sprintf("the shop replied with status %d", got.Status))
	}
	return json.Unmarshal(got.Body, reply)
}
