package main

import (
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
)

// An address to which nothing can be sent is refused before there is a run.
func TestAnAddressOfAModelNeedsAHost(t *testing.T) {
	for base, good := range map[string]bool{
		"http://127.0.0.1:11434/v1": true, "https://[::1]/v1": true, "http://[fe80::1%25lo]:1": true,
		"http://:80": false, "http://": false, "http:///v1": false, "ftp://a": false, "a": false, "http://u@a": false, "http://a?b": false, "http://a#b": false,
	} {
		t.Setenv(envModel, "openai/m")
		t.Setenv(envBaseURL, base)
		t.Setenv(envKey, "")
		m := new(agent.Model)
		if err := new(app).chooseModel(m); (err == nil) != good {
			t.Errorf("%s: got %v", base, err)
		}
		if good && (m.BaseURL != base || m.Key != "") {
			t.Errorf("%s: %+v", base, m)
		}
	}
}
