package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// askServer sends a request to the server whose address is the first line of a file, and shows what came of it: ask FILE PATH,
// or ask FILE PATH BODY with the file of a body. What it shows is for stdout: the status, the body, and what broke it off.
func askServer(ts *testscript.TestScript, neg bool, args []string) {
	base, _, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	method, body := "GET", ""
	if len(args) > 2 {
		method, body = "POST", ts.ReadFile(args[2])
	}
	req, err := http.NewRequest(method, base+args[1], strings.NewReader(body))
	ts.Check(err)
	req.GetBody = nil // so that nothing is sent twice
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("Authorization", "Bearer "+ts.Getenv("API_KEY"))
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		fmt.Fprintln(ts.Stdout(), "no reply")
		return
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	fmt.Fprintf(ts.Stdout(), "%d %s", res.StatusCode, got)
	if err != nil {
		fmt.Fprint(ts.Stdout(), " broken off")
	}
}
