package main

import (
	"encoding/json"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// shop is where all of it is done.
const shop = "https://shop.example.com"

// send asks the shop for something, and reads what it replies. A broken connection may be tried again where the host says so.
func send(method, path string, body, reply any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	got, err := sdk.HTTPSend(toolabi.HTTPRequest{
		Method: method, URL: shop + path, Body: b, Headers: []toolabi.Header{{Name: "Content-Type", Value: "application/json"}},
	})
	if err != nil {
		return err
	}
	return read(got, reply)
}

// fetch reads something at the shop.
func fetch(path string, reply any) error {
	got, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: shop + path})
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
