package script_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/docpage"
)

// Each script of the documentation answers the requests behind it as the answers behind them say, or has the mistakes.
func TestTheDocumentationIsTrue(t *testing.T) {
	count := map[string]int{}
	for _, p := range pages(t) {
		for _, group := range p.Groups("script") {
			s, wrong := script.Parse([]byte(group[0].Text))
			got := fmt.Sprint(wrong)
			for _, b := range group {
				text := strings.TrimSuffix(b.Text, "\n")
				count[b.Word]++
				switch {
				case b.Word == "script":
				case b.Word == "request" && wrong != nil:
					t.Fatalf("%s:%d: the script has mistakes: %v", p.File, b.Line, wrong)
				case b.Word == "request":
					got = shown(t, s, text)
				case got != text:
					t.Errorf("%s:%d: got\n%s\nwant\n%s", p.File, b.Line, got, text)
				}
			}
		}
	}
	if count["script"] < 5 || count["request"] < 6 || count["answer"]+count["error"] < 7 {
		t.Errorf("found %v", count)
	}
}

// shown is an answer as the documentation shows it.
func shown(t *testing.T, s *script.Script, request string) string {
	t.Helper()
	a, err := script.Client(s).Send(t.Context(), []byte(request), model.Attempt{})
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for rest := string(a.Message); rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0]), 16))
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return fmt.Sprintf("%s\n%s, %d tokens in and %d out", b.String(), a.Stop, a.Usage.Input, a.Usage.Output)
}

// pages are those of the documentation.
func pages(t testing.TB) []docpage.Page {
	t.Helper()
	all, err := docpage.Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return all
}
